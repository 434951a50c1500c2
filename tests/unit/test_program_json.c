// program.json: a round trip to the byte, edited texts, mistakes named one by one.
#include "plan/program_json.h"
#include "support/edits.h"
#include "support/golden.h"
#include "support/hand_plan.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

Test(program_json, a_round_trip_gives_the_same_bytes) {
  struct hand h;
  struct steprt_program *program;
  const struct rt_image_ref *images;
  char why[480] = "";
  uint64_t n, n2;
  hand_make(&h);
  char *text = rt_program_to_json(&h.program, &n);
  cr_assert_not_null(text);
  cr_assert_eq(rt_program_from_json(text, n, &program, &images, why, sizeof why),
               STEPRT_OK, "%s", why);
  char *again = rt_program_to_json(program, &n2);
  cr_assert(n == n2 && memcmp(text, again, n) == 0);
  cr_assert_eq(rt_plan_check(&h.plan, program, why, sizeof why), STEPRT_OK, "%s", why);
  free(text);
  free(again);
  rt_program_free(program);
}

// An image needs no device to be named and hashed.
Test(program_json, images_are_named_and_hashed) {
  struct hand h;
  struct steprt_program *program;
  const struct rt_image_ref *images;
  char why[480] = "";
  uint64_t n;
  hand_make(&h);
  h.program_kernel[HAND_ADAM].image = "\x7f"
                                      "ELF...";
  h.program_kernel[HAND_ADAM].image_bytes = 7;
  h.program_kernel[HAND_ADAM].registers = 40;
  h.program_kernel[HAND_SEED].image = "// PTX";
  h.program_kernel[HAND_SEED].image_bytes = 6;
  char *text = rt_program_to_json(&h.program, &n);
  cr_assert_eq(rt_program_from_json(text, n, &program, &images, why, sizeof why),
               STEPRT_OK, "%s", why);
  cr_assert_str_eq(images[HAND_ADAM].file, "adam.cubin");
  cr_assert_eq(images[HAND_ADAM].bytes, 7);
  cr_assert_eq(program->kernel[HAND_ADAM].registers, 40);
  cr_assert_str_eq(images[HAND_SEED].file, "seed.ptx");
  cr_assert_str_eq(images[HAND_UPDATE].file, "");
  cr_assert_str_eq(program->digest, h.program.digest);
  free(text);
  rt_program_free(program);
}

static const struct edit edits[] = {
#define EDIT(from, to, says) {from, to, says},
#include "bad_program_texts.def"
#undef EDIT
};

Test(program_json, each_edit_is_named) {
  struct hand h;
  uint64_t n;
  hand_make_cuda(&h);
  char *text = rt_program_to_json(&h.program, &n);
  cr_assert_not_null(text);
  for (size_t i = 0; i < sizeof edits / sizeof *edits; i++) {
    struct steprt_program *program;
    char why[480] = "", *copy = edited(text, &edits[i]);
    cr_expect_eq(
        rt_program_from_json(copy, strlen(copy), &program, NULL, why, sizeof why),
        STEPRT_BAD_INPUT);
    cr_expect_null(program);
    cr_expect_str_eq(why, edits[i].says, "row %d: %s", (int)i, why);
    free(copy);
  }
  free(text);
}

// What a reviewer reads; also a seed of the fuzzer.
Test(program_json, the_text_is_as_committed) {
  struct hand h;
  uint64_t n;
  hand_make_cuda(&h);
  char *text = rt_program_to_json(&h.program, &n);
  cr_assert_not_null(text);
  struct arena *a = arena_new(0);
  struct str trouble =
      golden_compare(a, "tests/data/program/hand.json", (struct str){text, n});
  cr_assert_eq(trouble.n, 0, "%s", trouble.p);
  arena_free(a);
  free(text);
}
