// Same bits: for every number of threads, and on another CPU target.
#include "tool/tensors.h"
#include "tool/verify.h"

#include <string.h>

enum exit_code verify_digests(struct verify *v, const struct steprt_program *program,
                              uint32_t threads, struct str *out) {
  struct session s;
  enum exit_code code =
      session_open(&s, v->tool, v->driver.job, program, &v->source, threads);
  code = code == EXIT_OK ? session_strict(&s) : code;
  for (int i = 0; i < VERIFY_STEPS && code == EXIT_OK; i++) {
    code = session_load_grads(&s);
    if (code == EXIT_OK) {
      code = session_step(&s, NULL);
    }
  }
  if (code == EXIT_OK) {
    code = digest_text(&s, out);
  }
  session_close(&s);
  return code;
}

struct str verify_difference(struct arena *a, struct str x, struct str y) {
  size_t at = 0, line = 0, end;
  while (at < x.n && at < y.n && x.p[at] == y.p[at]) {
    at++;
    line = x.p[at - 1] == '\n' ? at : line;
  }
  for (end = line; end < x.n && x.p[end] != '\n'; end++) {
  }
  const char *text = str_cstr(a, (struct str){x.p + line, end - line});
  const char *name = strstr(text, "  ");
  return str_of(name != NULL ? name + 2 : text);
}

enum exit_code verify_threads(struct verify *v, struct verdict *out) {
  struct arena *a = v->tool->arena;
  const struct steprt_program *program = v->driver.step;
  struct buf tried = buf_new(a);
  *out = (struct verdict){.held = true, .result = STR("same bits")};
  enum exit_code code = verify_digests(v, program, 1, &v->digests);
  buf_puts(&tried, "1");
  for (uint32_t n = 2; n <= v->threads + 1 && code == EXIT_OK; n++) {
    uint32_t threads = n <= v->threads ? n : 1; // at last the first again
    struct str digests = {0};
    code = verify_digests(v, program, threads, &digests);
    buf_printf(&tried, n <= v->threads ? ", %u" : " threads, %u again", threads);
    if (code == EXIT_OK && !str_eq(digests, v->digests) && out->held) {
      out->held = false;
      out->result = str_fmt(a, "with %u threads `%s` differs", threads,
                            verify_difference(a, v->digests, digests).p);
    }
  }
  buf_printf(&tried, "; %d steps each", VERIFY_STEPS);
  out->tried = buf_done(&tried);
  return code;
}

// Does this machine run code for x86-64-v3 (psABI's level: AVX2, FMA, BMI and what comes with them)?
static bool runs_v3(void) {
#if defined(__x86_64__)
  __builtin_cpu_init();
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
         __builtin_cpu_supports("bmi2");
#else
  return false;
#endif
}

enum exit_code verify_targets(struct verify *v, struct verdict *out) {
  struct arena *a = v->tool->arena;
  struct driver other = v->driver;
  struct driver_input in = v->setup.in;
  in.cpu = STR("x86-64-v3");
  struct str here = v->setup.in.cpu.n != 0 ? v->setup.in.cpu : cpu_host_name(a);
  *out = (struct verdict){.held = true,
                          .tried = str_fmt(a, "%.*s and x86-64-v3", STR_FMT(here)),
                          .result = STR("same bits")};
  if (!runs_v3()) {
    out->skipped = true;
    out->result = STR("not tried: this CPU does not run x86-64-v3");
    return EXIT_OK;
  }
  other.cpu = NULL;
  struct str digests = {0};
  enum exit_code code = driver_compile(&v->tool->front, &in, &other)
                            ? verify_digests(v, other.step, v->threads, &digests)
                            : job_failed(v->tool, &other);
  if (code == EXIT_OK && !str_eq(digests, v->digests)) {
    out->held = false;
    out->result = str_fmt(a, "`%s` differs", verify_difference(a, v->digests, digests).p);
  }
  driver_free(&other);
  return code;
}
