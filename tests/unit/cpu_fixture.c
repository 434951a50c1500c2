// Opening a case, its data, running and comparing.
#include "cpu_fixture.h"

#include "core/convert.h"
#include "random.h"
#include "support/golden.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const struct phases *parse_phases(struct arena *a, const char *path,
                                         struct str text) {
  struct front *f = ARENA_NEW(a, struct front);
  *f = (struct front){.arena = a,
                      .sources = ARENA_NEW(a, struct sources),
                      .diags = ARENA_NEW(a, struct diags)};
  f->sources->arena = a;
  diags_init(f->diags, a, f->sources);
  uint32_t file = source_add(f->sources, str_of(path), text);
  struct ir *ir = ir_parse(f, file);
  struct str said = diag_render(f->diags, DIAG_TEXT, false, a);
  cr_assert(ir != NULL && f->diags->n_errors == 0, "%.*s\n%.*s", STR_FMT(said),
            STR_FMT(text));
  return phases_cut(a, ir);
}

static uint32_t find_map(const struct phases *p, uint32_t ordinal) {
  for (uint32_t i = 0; i < p->n_phases; i++) {
    if (p->phase[i].kind == PHASE_MAP && ordinal-- == 0) {
      return i;
    }
  }
  cr_assert_fail("no such phase");
  return 0;
}

struct cpu_case cpu_case_open(const char *path, uint32_t ordinal, const char *cpu,
                              uint64_t numel) {
  struct arena *a = arena_new(0);
  struct str text;
  cr_assert(golden_read(a, path, &text), "cannot read %s", path);
  return cpu_case_open_on(a, path, text, ordinal, cpu, numel);
}

struct cpu_case cpu_case_open_on(struct arena *a, const char *path, struct str text,
                                 uint32_t ordinal, const char *cpu, uint64_t numel) {
  struct cpu_case c = {.arena = a};
  c.phases = parse_phases(a, path, text);
  c.phase = find_map(c.phases, ordinal);
  struct kernels *kernels = ARENA_NEW(c.arena, struct kernels);
  *kernels = (struct kernels){.arena = c.arena, .stream_numel = 1 << 20};
  struct kernel_slot *slot = NULL;
  uint32_t index = kernel_find(kernels, c.phases, c.phase, numel, &slot);
  c.kernel = kernels->list.v[index];
  struct cpu_target target;
  cr_assert(cpu_target_find(c.arena, str_of(cpu), &target) && target.is_host);
  struct str ice = {0};
  c.code = cpu_code_new(c.arena, &target, kernels, &ice);
  cr_assert(c.code != NULL, "%.*s", STR_FMT(ice));
  return c;
}

void cpu_case_close(struct cpu_case *c) {
  cpu_code_free(c->code);
  arena_free(c->arena);
}

// ---- data

// Ordinary numbers, every special one, and bit patterns of any kind.
static float random_value(uint64_t *seed) {
  static const float special[] = {0,          -0.0f,   1,         -1,        INFINITY,
                                  -INFINITY,  NAN,     1e-40f,    -1e-45f,   0x1p-126f,
                                  0x1.fp127f, 3.4e38f, 0x1.01p0f, 0x1.03p0f, -3e38f};
  uint64_t kind = random_below(seed, 8);
  if (kind < 5) {
    return (float)random_normal(seed);
  }
  if (kind < 7) {
    return special[random_below(seed, sizeof special / sizeof special[0])];
  }
  uint32_t bits = (uint32_t)random_u64(seed);
  float f;
  memcpy(&f, &bits, sizeof f);
  return f;
}

static void fill(void *tensor, enum storage s, uint64_t n, uint64_t *seed) {
  for (uint64_t i = 0; i < n; i++) {
    float x = random_value(seed);
    if (s == ST_F32) {
      ((float *)tensor)[i] = x;
    } else {
      ((uint16_t *)tensor)[i] = s == ST_F16 ? rt_f32_to_f16(x) : rt_f32_to_bf16(x);
    }
  }
}

static float random_scalar(const struct cpu_case *c, uint32_t k, uint64_t *seed) {
  struct ir_ref r = c->phases->phase[c->phase].scalar[k];
  bool is_bool = ir_at(c->phases->ir, r)->type == IRT_DBOOL;
  return is_bool ? (float)random_below(seed, 2) : (float)random_normal(seed);
}

struct cpu_data cpu_data_new(const struct cpu_case *c, uint64_t n,
                             uint32_t offset_elements, uint64_t seed) {
  struct cpu_data d = {.n_slots = c->kernel->n_slots, .n = n};
  d.tensor = calloc(d.n_slots, sizeof *d.tensor);
  d.memory = calloc(d.n_slots, sizeof *d.memory);
  d.scalar = calloc(c->kernel->n_scalars + 1, sizeof *d.scalar);
  for (uint32_t i = 0; i < d.n_slots; i++) {
    size_t bytes = storage_bytes(c->kernel->slot[i].storage);
    size_t size = ((n + offset_elements) * bytes + 63) / 64 * 64 + 64;
    d.memory[i] = aligned_alloc(64, size);
    memset(d.memory[i], 0, size);
    d.tensor[i] = (char *)d.memory[i] + offset_elements * bytes;
    fill(d.tensor[i], c->kernel->slot[i].storage, n, &seed);
  }
  for (uint32_t k = 0; k < c->kernel->n_scalars; k++) {
    d.scalar[k] = random_scalar(c, k, &seed);
  }
  return d;
}

void cpu_data_free(struct cpu_data *d) {
  for (uint32_t i = 0; i < d->n_slots; i++) {
    free(d->memory[i]);
  }
  free(d->tensor);
  free(d->memory);
  free(d->scalar);
}

static float read_element(const void *tensor, enum storage s, uint64_t i) {
  return s == ST_F32   ? ((const float *)tensor)[i]
         : s == ST_F16 ? rt_f16_to_f32(((const uint16_t *)tensor)[i])
                       : rt_bf16_to_f32(((const uint16_t *)tensor)[i]);
}

static uint32_t bits_of(float x) {
  uint32_t bits;
  memcpy(&bits, &x, sizeof bits);
  return bits;
}

void cpu_data_expect_equal(const struct cpu_case *c, const struct cpu_data *got,
                           const struct cpu_data *want) {
  for (uint32_t k = 0; k < got->n_slots; k++) {
    const struct kernel_slot *slot = &c->kernel->slot[k];
    for (uint64_t i = 0; i < got->n; i++) {
      float a = read_element(got->tensor[k], slot->storage, i);
      float b = read_element(want->tensor[k], slot->storage, i);
      bool same = (isnan(a) && isnan(b)) || bits_of(a) == bits_of(b);
      cr_assert(same, "%.*s: %.*s[%llu] is %a, not %a", STR_FMT(c->kernel->name),
                STR_FMT(slot->name), (unsigned long long)i, (double)a, (double)b);
    }
  }
}

// ---- running

void cpu_case_run(const struct cpu_case *c, struct cpu_data *d, uint64_t begin,
                  uint64_t end) {
  cpu_code_function(c->code, 0)(d->tensor, d->scalar, begin, end);
}

static float minimum(float a, float b) {
  if (isnan(a) || isnan(b)) {
    return NAN;
  }
  return a == b ? (signbit(a) ? a : b) : (a < b ? a : b);
}

static float eval_value(const struct ir_ins *ins, const float x[3]) {
  switch ((int)ins->op) { // what a map phase may hold
  case IR_CONST: return (float)ins->num;
  case IR_ROUND:
    return ins->storage == ST_F32 ? x[0] : rt_bf16_to_f32(rt_f32_to_bf16(x[0]));
  case IR_ADD: return x[0] + x[1];
  case IR_SUB: return x[0] - x[1];
  case IR_MUL: return x[0] * x[1];
  case IR_DIV: return x[0] / x[1];
  case IR_NEG: return -x[0];
  case IR_ABS: return fabsf(x[0]);
  case IR_SQRT: return sqrtf(x[0]);
  case IR_RSQRT: return 1 / sqrtf(x[0]);
  case IR_SIGN: return isnan(x[0]) ? x[0] : (float)((x[0] > 0) - (x[0] < 0));
  case IR_MIN: return minimum(x[0], x[1]);
  case IR_MAX: return -minimum(-x[0], -x[1]);
  case IR_FMA: return fmaf(x[0], x[1], x[2]);
  case IR_WHERE: return x[0] != 0 ? x[1] : x[2];
  case IR_EQ: return x[0] == x[1];
  case IR_NE: return x[0] != x[1];
  case IR_LT: return x[0] < x[1];
  case IR_LE: return x[0] <= x[1];
  case IR_GT: return x[0] > x[1];
  case IR_GE: return x[0] >= x[1];
  case IR_AND: return x[0] != 0 && x[1] != 0;
  case IR_OR: return x[0] != 0 || x[1] != 0;
  case IR_NOT: return x[0] == 0;
  default: cr_assert_fail("not expected: %s", ir_op_info(ins->op)->text); return 0;
  }
}

static void write_element(const struct cpu_case *c, struct cpu_data *d, uint32_t slot,
                          uint64_t i, float x) {
  if (c->kernel->slot[slot].storage == ST_F32) {
    ((float *)d->tensor[slot])[i] = x;
  } else {
    ((uint16_t *)d->tensor[slot])[i] = rt_f32_to_bf16(x);
  }
}

static void reference_element(const struct cpu_case *c, struct cpu_data *d, uint64_t e,
                              float *value) {
  const struct phases *p = c->phases;
  const struct phase *ph = &p->phase[c->phase];
  const struct kernel *k = c->kernel;
  for (uint32_t i = 0; i < ph->n_temp_in; i++) {
    struct ir_ref r = p->temp[ph->temp_in[i]].value;
    uint32_t slot = kernel_slot_of(k->slot, k->n_slots, p, ph, r);
    value[r.i] = read_element(d->tensor[slot], k->slot[slot].storage, e);
  }
  for (int stores = 0; stores < 2; stores++) { // all loads first
    for (uint32_t i = 0; i < ph->n_ins; i++) {
      const struct ir_ins *ins = ir_at(p->ir, ph->ins[i]);
      uint32_t slot = kernel_slot_of(k->slot, k->n_slots, p, ph, ph->ins[i]);
      bool is_store = ir_op_info(ins->op)->kind == IRK_STORE;
      if (stores == 1 && is_store) {
        write_element(c, d, slot, e, value[ins->arg[0].i]);
      } else if (stores == 0 && slot != UINT32_MAX && !is_store) {
        value[ph->ins[i].i] = read_element(d->tensor[slot], k->slot[slot].storage, e);
      } else if (stores == 0 && !is_store && ins->op != IR_CLIP) {
        float x[3] = {0};
        for (uint32_t a = 0; a < ir_op_info(ins->op)->n_args; a++) {
          x[a] = value[ins->arg[a].i];
        }
        value[ph->ins[i].i] = eval_value(ins, x);
      }
    }
  }
  for (uint32_t i = 0; i < k->n_slots; i++) {
    if (k->slot[i].kind == SLOT_TEMP && k->slot[i].written) {
      write_element(c, d, i, e, value[p->temp[k->slot[i].index].value.i]);
    }
  }
}

void cpu_reference_run(const struct cpu_case *c, struct cpu_data *d, uint64_t begin,
                       uint64_t end) {
  const struct phase *ph = &c->phases->phase[c->phase];
  float *value = calloc(c->phases->ir->ins.n, sizeof *value);
  for (uint32_t k = 0; k < ph->n_scalars; k++) {
    value[ph->scalar[k].i] = d->scalar[k];
  }
  for (uint64_t e = begin; e < end; e++) {
    reference_element(c, d, e, value);
  }
  free(value);
}
