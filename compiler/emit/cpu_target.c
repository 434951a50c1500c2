// CPU names and this machine's own.
#include "emit/cpu_target.h"

#include <llvm-c/Core.h>
#include <llvm-c/TargetMachine.h>
#include <string.h>

static const struct cpu_row {
  struct str name;
  uint32_t bits, ahead;
} cpu_table[] = {
#define CPU(name, bits, ahead) {{"" name, sizeof(name) - 1}, bits, ahead},
#include "emit/cpus.def"
#undef CPU
};
enum {
  N_CPUS = sizeof cpu_table / sizeof cpu_table[0],
  UNKNOWN_AHEAD = 256 // of a host that LLVM 19 has no name for
};

static const struct str cpu_names[] = {
#define CPU(name, bits, ahead) {"" name, sizeof(name) - 1},
#include "emit/cpus.def"
#undef CPU
};

const struct str *cpu_target_names(uint32_t *n) {
  *n = N_CPUS;
  return cpu_names;
}

static const struct cpu_row *find_row(struct str cpu) {
  for (uint32_t i = 0; i < N_CPUS; i++) {
    if (str_eq(cpu_table[i].name, cpu)) {
      return &cpu_table[i];
    }
  }
  return NULL;
}

// LLVM's text goes back before anything is allocated: the arena may not return. (A CPU's features take 1 KB.)
static struct str take_message(struct arena *a, char *text) {
  char copy[1 << 14];
  size_t n = strnlen(text, sizeof copy);
  memcpy(copy, text, n);
  LLVMDisposeMessage(text);
  return str_copy(a, (struct str){copy, n});
}

struct str cpu_host_name(struct arena *a) {
  return take_message(a, LLVMGetHostCPUName());
}

bool cpu_name_known(struct str cpu) {
  return cpu.n == 0 || str_is(cpu, "native") || find_row(cpu) != NULL;
}

// "+avx512f" as a whole item of a comma-separated list.
static bool has_feature(struct str features, const char *item) {
  size_t n = str_of(item).n;
  for (size_t i = 0; i + n <= features.n; i++) {
    bool starts = i == 0 || features.p[i - 1] == ',';
    bool ends = i + n == features.n || features.p[i + n] == ',';
    if (starts && ends && str_eq((struct str){features.p + i, n}, str_of(item))) {
      return true;
    }
  }
  return false;
}

static bool has_all(struct str features, const char *const *item, size_t n) {
  for (size_t i = 0; i < n; i++) {
    if (!has_feature(features, item[i])) {
      return false;
    }
  }
  return true;
}

// The x86-64-vN levels as the psABI defines them, as far as LLVM names their parts:
// https://gitlab.com/x86-psABIs/x86-64-ABI (low-level system information, microarchitecture levels).
static uint32_t host_level(struct str features) {
  static const char *const v2[] = {"+cx16",   "+sahf",   "+popcnt", "+sse3",
                                   "+sse4.1", "+sse4.2", "+ssse3"};
  static const char *const v3[] = {"+avx", "+avx2",  "+bmi",   "+bmi2", "+f16c",
                                   "+fma", "+lzcnt", "+movbe", "+xsave"};
  static const char *const v4[] = {"+avx512f", "+avx512bw", "+avx512cd", "+avx512dq",
                                   "+avx512vl"};
  if (!has_all(features, v2, sizeof v2 / sizeof v2[0])) {
    return 1;
  }
  if (!has_all(features, v3, sizeof v3 / sizeof v3[0])) {
    return 2;
  }
  return has_all(features, v4, sizeof v4 / sizeof v4[0]) ? 4 : 3;
}

// A name runs here when it is this machine's own or a level that this machine has. Between other models nothing
// but their full lists of features would tell, and LLVM's C interface does not give those.
static bool runs_here(struct str cpu, struct str host, struct str features) {
  static const char *const level[] = {"x86-64", "x86-64-v2", "x86-64-v3", "x86-64-v4"};
  for (uint32_t i = 0; i < 4; i++) {
    if (str_is(cpu, level[i])) {
      return i < host_level(features);
    }
  }
  return str_eq(cpu, host);
}

bool cpu_target_find(struct arena *a, struct str cpu, struct cpu_target *out) {
  struct str host = cpu_host_name(a);
  struct str features = take_message(a, LLVMGetHostCPUFeatures());
  if (cpu.n == 0 || str_is(cpu, "native")) {
    *out = (struct cpu_target){.cpu = host, .features = features, .is_host = true};
    out->bits = has_feature(features, "+avx512f") && has_feature(features, "+avx512bw")
                    ? 512
                : has_feature(features, "+avx") ? 256
                                                : 128;
    const struct cpu_row *row = find_row(host);
    out->ahead = row != NULL ? row->ahead : UNKNOWN_AHEAD;
    return true;
  }
  const struct cpu_row *row = find_row(cpu);
  if (row == NULL) {
    return false;
  }
  *out = (struct cpu_target){.cpu = cpu,
                             .bits = row->bits,
                             .ahead = row->ahead,
                             .is_host = runs_here(cpu, host, features)};
  return true;
}
