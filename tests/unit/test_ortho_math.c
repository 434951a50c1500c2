// The element-wise loops of rt_ortho against one-line readings of what they mean.
#include "core/convert.h"
#include "core/ortho_math.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static float float_of(uint32_t bits) {
  float f;
  memcpy(&f, &bits, sizeof f);
  return f;
}

static uint32_t bits_of(float f) {
  uint32_t u;
  memcpy(&u, &f, sizeof u);
  return u;
}

Test(ortho_math, rounds_as_convert_does) {
  static const uint32_t tails[] = {0, 1, 0x7fff, 0x8000, 0x8001, 0xffff};
  for (int t = 0; t < 6; t++) {
    static float x[1 << 16];
    for (uint32_t h = 0; h < 1 << 16; h++) {
      x[h] = float_of(h << 16 | tails[t]);
    }
    ortho_scale(x, 1 << 16, 1, true);
    for (uint32_t h = 0; h < 1 << 16; h++) {
      float from = float_of(h << 16 | tails[t]);
      cr_assert_eq(bits_of(x[h]), (uint32_t)rt_f32_to_bf16(from) << 16, "%08x",
                   h << 16 | tails[t]);
    }
  }
}

Test(ortho_math, scale_does_not_overflow_on_the_way) {
  float x[2] = {0x1p-140f, -0x1p127f};
  ortho_scale(x, 1, 0x1p200, false);
  ortho_scale(x + 1, 1, 0x1p-200, false);
  cr_expect_eq(x[0], 0x1p60f);
  cr_expect_eq(x[1], -0x1p-73f);
}

Test(ortho_math, combine_touches_its_block_alone) {
  float acc[5 * 7], x[5 * 7], before[5 * 7];
  for (int i = 0; i < 35; i++) {
    acc[i] = (float)i;
    x[i] = (float)(100 - i);
  }
  memcpy(before, acc, sizeof acc);
  ortho_combine(acc, x, 7, (struct ortho_block){1, 2, 3, 4}, 2.0f, -0.5f, false);
  for (int i = 0; i < 35; i++) {
    bool in = i / 7 >= 1 && i / 7 < 4 && i % 7 >= 2 && i % 7 < 6;
    cr_expect_eq(acc[i], in ? 2 * x[i] - 0.5f * before[i] : before[i], "%d", i);
  }
}

Test(ortho_math, mirror_makes_symmetric) {
  enum { N = 75, LD = 80 };
  static float x[N * LD];
  for (int i = 0; i < N * LD; i++) {
    x[i] = (float)i;
  }
  ortho_mirror(x, LD, (struct ortho_block){0, 0, 40, 40});
  ortho_mirror(x, LD, (struct ortho_block){40, 0, 35, 40});
  ortho_mirror(x, LD, (struct ortho_block){40, 40, 35, 35});
  for (int i = 0; i < N; i++) {
    for (int j = 0; j < LD; j++) {
      cr_assert_eq(x[i * LD + j], (float)(j < N && j > i ? j * LD + i : i * LD + j),
                   "%d %d", i, j);
    }
  }
}

Test(ortho_math, load_and_store_transpose_what_is_wide) {
  enum { R = 37, C = 91, LD = 48 };
  static uint16_t in[R * C], back[R * C];
  static float t[C * LD], in_f32[R * C], back_f32[R * C];
  for (uint32_t i = 0; i < R * C; i++) {
    in[i] = (uint16_t)(i * 11);
    in_f32[i] = (float)i;
  }
  struct ortho_user wide = {in, back, true, true, true, R, C};
  ortho_load(t, LD, &wide, 0, 50);
  ortho_load(t, LD, &wide, 50, C);
  for (int k = 0; k < C; k++) {
    for (int i = 0; i < R; i++) {
      cr_assert_eq(bits_of(t[k * LD + i]), (uint32_t)in[i * C + k] << 16);
    }
  }
  ortho_store(t, LD, &wide, 0, C);
  for (int i = 0; i < R * C; i++) {
    cr_assert_eq(back[i], (in[i] & 0x7fff) > 0x7f80 ? 0x7fc0 : in[i]);
  }
  struct ortho_user tall = {in_f32, back_f32, false, false, false, R, C};
  ortho_load(t, LD, &tall, 0, C);
  cr_assert_eq(t[3 * LD + 2], (float)(3 * R + 2));
  ortho_store(t, LD, &tall, 0, C);
  cr_assert_arr_eq(back_f32, in_f32, sizeof in_f32);
}
