// Same bits on the CPU and on the GPU, where there is one. What matrix products feed is left out: their libraries add up
// in other orders.
#include "tool/devices.h"
#include "tool/verify.h"

#include <string.h>

// "name" of a parameter or "name/state", whose rule multiplies matrices?
static bool is_fed_by_products(const struct verify *v, struct str name) {
  const struct steprt_program *p = v->driver.step;
  for (uint32_t i = 0; i < p->n_params; i++) {
    struct str param = str_of(p->param[i].name);
    bool is_its = str_starts(name, p->param[i].name) &&
                  (name.n == param.n || name.p[param.n] == '/');
    if (p->param[i].active && is_its && p->rule[p->param[i].rule].rows != 0) {
      return true;
    }
  }
  return false;
}

static struct str next_line(struct str *rest) {
  const char *end = memchr(rest->p, '\n', rest->n);
  size_t n = end != NULL ? (size_t)(end - rest->p) : rest->n;
  struct str line = {rest->p, n};
  rest->p += n + (end != NULL);
  rest->n -= n + (end != NULL);
  return line;
}

// Behind the two spaces of "SHA-256  NAME".
static struct str name_of(struct str line) {
  for (size_t i = 0; i + 1 < line.n; i++) {
    if (line.p[i] == ' ' && line.p[i + 1] == ' ') {
      return (struct str){line.p + i + 2, line.n - i - 2};
    }
  }
  return line;
}

// Digests have the same lines on both sides.
static void compare(const struct verify *v, struct str gpu, struct verdict *out) {
  struct arena *a = v->tool->arena;
  struct str cpu = v->digests;
  uint64_t left_out = 0, n = 0;
  while (cpu.n != 0 && gpu.n != 0) {
    struct str x = next_line(&cpu), y = next_line(&gpu), name = name_of(x);
    bool fed = is_fed_by_products(v, name);
    left_out += fed;
    n += !fed;
    if (!fed && !str_eq(x, y) && out->held) {
      out->held = false;
      out->result = str_fmt(a, "`%s` differs", str_escape(a, name).p);
    }
  }
  out->tried =
      str_fmt(a, "%.*s; %llu digests, %llu more are fed by products", STR_FMT(out->tried),
              (unsigned long long)n, (unsigned long long)left_out);
}

enum exit_code verify_gpu(struct verify *v, struct verdict *out) {
  struct driver other = v->driver;
  struct driver_input in = v->setup.in;
  bool has_device;
  in.arch = usable_arch(v->tool->arena, &has_device);
  *out = (struct verdict){.held = true, .tried = STR(""), .result = STR("same bits")};
  if (in.arch.n == 0) {
    out->skipped = true;
    out->result =
        str_fmt(v->tool->arena, "not tried: no %s; `stepc doctor` says why",
                has_device ? "NVRTC to compile for the CUDA device" : "CUDA device");
    return EXIT_OK;
  }
  other.cpu = NULL;
  in.names_cpu = false;
  in.names_cuda = true;
  out->tried = str_fmt(v->tool->arena, "this CPU and cuda:%.*s", STR_FMT(in.arch));
  struct str digests = {0};
  enum exit_code code = driver_compile(&v->tool->front, &in, &other)
                            ? verify_digests(v, other.step, v->threads, &digests)
                            : job_failed(v->tool, &other);
  if (code == EXIT_OK) {
    compare(v, digests, out);
  }
  return code;
}
