// Targets by name.
#include "api/driver.h"

// "sm_90a": digits, then a letter or none.
static bool is_cuda_arch(struct str s) {
  if (!str_starts(s, "sm_") || s.n < 5 || s.n > 7) {
    return false;
  }
  for (size_t i = 3; i < s.n; i++) {
    bool letter = i + 1 == s.n && i >= 5 && (s.p[i] == 'a' || s.p[i] == 'f');
    if (!letter && (s.p[i] < '0' || s.p[i] > '9')) {
      return false;
    }
  }
  return true;
}

static bool read_cuda(struct arena *a, struct str target, struct driver_input *in,
                      struct str *why) {
  in->names_cuda = true;
  if (str_is(target, "cuda")) {
    return true;
  }
  in->arch = (struct str){target.p + 5, target.n - 5};
  *why =
      str_fmt(a, "`%s` is no CUDA architecture; try sm_90a", str_escape(a, in->arch).p);
  return is_cuda_arch(in->arch);
}

bool driver_read_target(struct arena *a, struct str target, struct driver_input *in,
                        struct str *why) {
  if (str_is(target, "cuda") || str_starts(target, "cuda:")) {
    return read_cuda(a, target, in, why);
  }
  in->names_cpu = true;
  if (str_is(target, "cpu")) {
    return true;
  }
  if (!str_starts(target, "cpu:") || target.n == 4) {
    *why = str_fmt(a, "a target is cpu, cpu:NAME, cuda or cuda:ARCH, not `%s`",
                   str_escape(a, target).p);
    return false;
  }
  in->cpu = (struct str){target.p + 4, target.n - 4};
  *why = str_fmt(a, "`%s` is no x86-64 CPU that LLVM knows; try x86-64-v3",
                 str_escape(a, in->cpu).p);
  return cpu_name_known(in->cpu);
}
