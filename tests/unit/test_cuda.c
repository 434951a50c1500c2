// The CUDA target's text: what a reader and a compiler may count on.
#include "cpu_job.h"
#include "cuda_shim.h"

#include "support/golden.h"

#include <criterion/criterion.h>
#include <string.h>

static const struct job_param_spec f32_params[] = {
    {"wte", ST_F32, ST_F32, MATRIX(6, 4), false},
    {"h.w", ST_F32, ST_F32, MATRIX(8, 4), false},
    {"h.b", ST_F32, ST_F32, VECTOR(5), false},
};
static const struct job_param_spec bf16_params[] = {
    {"wte", ST_BF16, ST_BF16, MATRIX(6, 4), false},
    {"h.w", ST_BF16, ST_BF16, MATRIX(8, 4), false},
    {"h.b", ST_F32, ST_BF16, VECTOR(5), false},
};
static const struct job_case {
  const char *path;
  const struct job_param_spec *param;
} shipped[] = {
    {"specs/gpt.opt", f32_params},   {"specs/gpt.opt", bf16_params},
    {"specs/adamw.opt", f32_params}, {"specs/lion.opt", bf16_params},
    {"specs/sgd.opt", f32_params},   {"specs/sgd.opt", bf16_params},
};
enum { N_SHIPPED = sizeof shipped / sizeof shipped[0], N_PARAMS = 3 };

static struct cuda_text *emit(struct cpu_job *j) {
  cr_assert(j->job != NULL, "%s%.*s", cpu_job_said(j), STR_FMT(j->ice));
  struct cuda_text *text = cuda_emit(&j->front, j->job, STR(""), &j->ice);
  cr_assert(text != NULL, "%s%.*s", cpu_job_said(j), STR_FMT(j->ice));
  return text;
}

static const struct cuda_kernel *kernel_named(const struct cuda_text *text,
                                              const char *name) {
  for (uint32_t i = 0; i < text->n_kernels; i++) {
    if (str_is(text->kernel[i].name, name)) {
      return &text->kernel[i];
    }
  }
  cr_assert_fail("no kernel %s", name);
  return NULL;
}

// ---- structure

static const char *cstr(const struct cpu_job *j, struct str s) {
  return str_cstr(j->arena, s);
}

// Loops over registers are unrolled: their counters are constants, so that nothing is indexed at run time.
static void check_loops(const char *text, const char *loop, const char *name) {
  static const char unroll[] = "#pragma unroll\n";
  for (const char *at = strstr(text, loop); at != NULL; at = strstr(at + 1, loop)) {
    const char *line = at;
    while (line[-1] == ' ') {
      line--;
    }
    line -= strlen(unroll);
    cr_expect(memcmp(line, unroll, strlen(unroll)) == 0, "%s: a loop is not unrolled",
              name);
  }
}

static void check_structure(const struct cpu_job *j, const struct cuda_kernel *k) {
  const char *text = cstr(j, k->source), *name = cstr(j, k->name);
  const char *head = strstr(text, "extern \"C\" __global__ __launch_bounds__(BLOCK");
  cr_assert(head != NULL, "%s: no head", name);
  cr_expect(
      str_starts(str_of(strchr(head, ')')), str_fmt(j->arena, ") void %s(\n", name).p),
      "%s: no head", name);
  cr_expect(strstr(text, "#include") == NULL && strstr(text, "#define") == NULL, "%s",
            name);
  cr_expect_eq(text[k->source.n - 1], '\n');
  check_loops(text, "for (int ", name);
  check_loops(text, "for (unsigned j ", name);
  if (k->kind != CUDA_MAP && k->kind != CUDA_SQUARES) {
    return;
  }
  cr_expect(strstr(text, "unsigned long long begin = ") != NULL &&
                strstr(text, "const unsigned long long at = begin + ") != NULL,
            "%s: element offsets have 64 bits", name);
  const char *row = strstr(text, "\nstruct row {\n");
  cr_assert(row != NULL, "%s: no rows", name);
  for (uint32_t i = 0; i <= k->n_ptrs; i++) { // then `first`
    row = strchr(row + 2, '\n');
    cr_expect_eq(strcspn(row, "*;") < strcspn(row, ";"), i < k->n_ptrs, "%s: %.30s", name,
                 row);
  }
}

Test(cuda, shipped_specs_have_the_structure_and_pass_the_front_end) {
  for (uint32_t i = 0; i < N_SHIPPED; i++) {
    struct cpu_job j =
        cpu_job_open(shipped[i].path, NULL, "", shipped[i].param, N_PARAMS);
    const struct cuda_text *text = emit(&j), *again = emit(&j);
    struct buf all = buf_new(j.arena);
    for (uint32_t k = 0; k < text->n_kernels; k++) {
      check_structure(&j, &text->kernel[k]);
      cr_expect(str_eq(text->kernel[k].source, again->kernel[k].source));
      buf_printf(&all, "namespace file%u {\n%.*s}\n", k, STR_FMT(text->kernel[k].source));
    }
    cuda_front_check(j.arena, buf_done(&all));
    cpu_job_close(&j);
  }
}

Test(cuda, the_prelude_stands_alone) {
  struct arena *a = arena_new(0);
  struct buf b = buf_new(a);
  buf_printf(&b,
             "enum { BLOCK = 256, LANES = 8, VECTORS = 1, VALUES = 8, STRIDE = 8, TURN = "
             "8, TILE = 8 };\n"
             "enum bf16 : unsigned short {};\nenum f16 : unsigned short {};\n"
             "struct row {\n  unsigned long long numel;\n  unsigned first_tile;\n};\n%s",
             cuda_prelude_text);
  cuda_front_check(a, buf_done(&b));
  arena_free(a);
}

Test(cuda, kernels_of_a_recipe) {
  struct cpu_job j = cpu_job_open("specs/gpt.opt", NULL, "", bf16_params, N_PARAMS);
  const struct cuda_text *text = emit(&j);
  static const char *const names[] = {
      "adamw__p0__bf16",        "muon__p0__bf16",           "muon__p2__bf16",
      "adamw__p0__f32_bf16",    "gradients__squares__bf16", "gradients__verdict",
      "ortho__norm__bf16_bf16", "ortho__scale__bf16_bf16",  "ortho__finish__bf16_bf16"};
  cr_assert_eq(text->n_kernels, sizeof names / sizeof names[0]);
  for (uint32_t i = 0; i < text->n_kernels; i++) {
    cr_expect(str_is(text->kernel[i].name, names[i]), "%.*s",
              STR_FMT(text->kernel[i].name));
  }
  const struct cuda_kernel *k = kernel_named(text, "adamw__p0__f32_bf16");
  cr_expect(str_is(k->file, "adamw__p0__f32_bf16.cu"));
  cr_expect_eq(k->n_ptrs, 3);
  cr_expect_eq(k->n_scalars, 9);
  cr_expect_eq(k->bytes_read, 14);
  cr_expect_eq(k->bytes_written, 12);
  cr_expect_eq(k->tile % (k->block * 8), 0);
  cpu_job_close(&j);
}

// ---- goldens

Test(cuda, text_is_as_committed) {
  static const char *const names[] = {"adamw__p0__bf16", "muon__p0__bf16",
                                      "muon__p2__bf16"};
  struct cpu_job j = cpu_job_open("specs/gpt.opt", NULL, "", bf16_params, N_PARAMS);
  const struct cuda_text *text = emit(&j);
  for (uint32_t i = 0; i < 3; i++) {
    struct str said =
        golden_compare(j.arena, str_fmt(j.arena, "tests/data/cuda/%s.cu", names[i]).p,
                       kernel_named(text, names[i])->source);
    cr_expect(said.n == 0, "%s", said.p);
  }
  cpu_job_close(&j);
}

// ---- names from outside

Test(cuda, names_from_outside_are_data) {
  static const char spec[] =
      "spec 1\noptimizer __global__ {\n"
      "  hyper int : f32 = 0.5\n  hyper for : f32 = 1\n"
      "  state float : f32 like param\n  state m_3 : f32 like param\n"
      "  state m_3_ : f32 like param\n  state p_m : f32 like param\n"
      "  float := float * int + grad\n  m_3 := m_3 - grad\n  m_3_ := m_3_ * grad\n"
      "  p_m := max(p_m, grad)\n"
      "  let threadIdx = sign(float) + m_3\n  let __fmul_rn = threadIdx * m_3_\n"
      "  let tile = min(__fmul_rn, p_m)\n"
      "  param := param - for * tile\n}\n";
  struct cpu_job j =
      cpu_job_open("od\"d\n#error\\\n.opt", spec, "", f32_params, N_PARAMS);
  const struct cuda_text *text = emit(&j);
  const struct cuda_kernel *k = kernel_named(text, "__global____p0__f32");
  check_structure(&j, k);
  cuda_front_check(j.arena, k->source);
  cpu_job_close(&j);
}

// ---- small changes stay small

static struct str momentum(struct arena *a, const char *with) {
  return str_fmt(a,
                 "spec 1\noptimizer momentum {\n  hyper lr : f32 = 0.1\n"
                 "  hyper beta : f32 = 0.9\n  state m : f32 like param\n"
                 "  m := beta * m + grad\n  let u = beta * m + grad\n%s",
                 with);
}

static bool has_line(struct str text, struct str line) {
  for (size_t at = 0; at < text.n;) {
    const char *end = memchr(text.p + at, '\n', text.n - at);
    size_t n = (size_t)(end - (text.p + at));
    if (str_eq((struct str){text.p + at, n}, line)) {
      return true;
    }
    at += n + 1;
  }
  return false;
}

Test(cuda, one_more_let_changes_lines_about_it_alone) {
  struct arena *a = arena_new(0);
  struct str before = momentum(a, "  param := param - lr * u\n}\n");
  struct str after =
      momentum(a, "  let w = u * sqrt(abs(u))\n  param := param - lr * w\n}\n");
  struct cpu_job x = cpu_job_open("m.opt", before.p, "", f32_params, N_PARAMS);
  struct cpu_job y = cpu_job_open("m.opt", after.p, "", f32_params, N_PARAMS);
  struct str old = emit(&x)->kernel[0].source, new = emit(&y)->kernel[0].source;
  uint32_t changed = 0;
  for (size_t at = 0; at < new.n;) {
    const char *end = memchr(new.p + at, '\n', new.n - at);
    struct str line = {new.p + at, (size_t)(end - (new.p + at))};
    at += line.n + 1;
    if (!str_starts(line, "//") && !has_line(old, line)) {
      changed++;
      cr_expect(str_ends(line, "// m.opt: w") || str_ends(line, "// m.opt: param"),
                "%.*s", STR_FMT(line));
    }
  }
  cr_expect_eq(changed, 2);
  cpu_job_close(&x);
  cpu_job_close(&y);
  arena_free(a);
}

Test(cuda, what_is_not_executed_is_refused_by_name) {
  static const char spec[] =
      "spec 1\noptimizer rmsnorm {\n  hyper lr : f32 = 0.1\n"
      "  param := param - lr * grad / (rms(grad, per param) + 1e-8)\n}\n";
  struct cpu_job j = cpu_job_open("r.opt", spec, "", f32_params, N_PARAMS);
  cr_assert(cuda_emit(&j.front, j.job, STR(""), &j.ice) == NULL && j.ice.n == 0);
  cr_expect(strstr(cpu_job_said(&j), "the cuda target") != NULL, "%s", cpu_job_said(&j));
  cpu_job_close(&j);
}
