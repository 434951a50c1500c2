// NVRTC on kernels written here and on those of every shipped spec: what compiles, what is a fault, what is read from the
// log; and where libraries are looked for.
#include "cpu_job.h"

#include "emit/cuda.h"
#include "emit/library.h"
#include "emit/nvrtc.h"
#include "emit/nvrtc_cache.h"
#include "emit/nvrtc_log.h"
#include "support/golden.h"
#include "tempdir.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char good[] =
    "extern \"C\" __global__ void __launch_bounds__(256) good(float *p, const float *g) "
    "{\n"
    "  __shared__ float s[64];\n"
    "  s[threadIdx.x & 63] = g[threadIdx.x];\n"
    "  __syncthreads();\n"
    "  p[threadIdx.x] = __fdiv_rn(s[(threadIdx.x + 1) & 63], __fsqrt_rn(g[0]));\n"
    "}\n";
// The index is known at run time only: the array cannot live in registers.
static const char local[] = "extern \"C\" __global__ void local(float *p, int k) {\n"
                            "  float a[64];\n"
                            "  for (int i = 0; i < 64; i++) a[(i * k) & 63] = p[i];\n"
                            "  p[0] = a[k & 63];\n"
                            "}\n";
static const char warns[] = "extern \"C\" __global__ void warns(float *p) {\n"
                            "  int unused = 1;\n"
                            "  p[0] = 2;\n"
                            "}\n";
static const char broken[] =
    "extern \"C\" __global__ void broken(float *p) { p[0] = q; }\n";
static const char includes[] = "#include <stdint.h>\n";

static struct arena *arena;
static struct nvrtc *nvrtc;

static void set_up(void) {
  struct str why = STR("");
  arena = arena_new(0);
  nvrtc = nvrtc_open(arena, &why);
  cr_assert_neq(nvrtc, NULL, "%.*s", STR_FMT(why));
}

static void tear_down(void) {
  nvrtc_close(nvrtc);
  arena_free(arena);
}

static struct nvrtc_object compile(const char *name, const char *text, const char *arch) {
  struct nvrtc_source source = {str_of(name), str_of(text)};
  struct nvrtc_object o;
  bool fine = nvrtc_compile(nvrtc, arena, &source, 1, str_of(arch), &o);
  cr_assert_eq(fine, o.fault.n == 0);
  return o;
}

TestSuite(nvrtc, .init = set_up, .fini = tear_down);

Test(nvrtc, a_kernel_becomes_cubin_and_ptx_with_its_resources) {
  static const char *const archs[] = {"sm_80", "sm_90a", "sm_100"};
  for (size_t i = 0; i < 3; i++) {
    struct nvrtc_object o = compile("good.cu", good, archs[i]);
    cr_assert_eq(o.fault.n, 0, "%.*s", STR_FMT(o.fault));
    cr_assert(o.cubin.n > 64 && memcmp(o.cubin.p, "\177ELF", 4) == 0);
    cr_assert_neq(strstr(str_cstr(arena, o.ptx), ".entry good"), NULL);
    cr_assert_eq(o.n_kernels, 1);
    cr_assert(str_is(o.kernel[0].kernel, "good"));
    cr_assert(o.kernel[0].registers > 0 && o.kernel[0].registers < 64);
    cr_assert_eq(o.kernel[0].shared, 256);
    cr_assert_eq(o.kernel[0].stack + o.kernel[0].spill_stores, 0);
  }
}

Test(nvrtc, equal_text_gives_equal_bytes_whatever_its_name) {
  struct nvrtc_object a = compile("a.cu", good, "sm_90a"),
                      b = compile("b.cu", good, "sm_90a");
  cr_assert(a.cubin.n != 0 && str_eq(a.cubin, b.cubin));
  cr_assert(a.ptx.n != 0 && str_eq(a.ptx, b.ptx));
}

Test(nvrtc, local_memory_is_a_fault) {
  struct nvrtc_object o = compile("local.cu", local, "sm_90a");
  cr_assert(str_starts(o.fault, "local.cu: kernel local takes 256 bytes of local memory"),
            "%.*s", STR_FMT(o.fault));
}

Test(nvrtc, a_warning_is_a_fault_that_holds_the_log) {
  struct nvrtc_object o = compile("warns.cu", warns, "sm_90a");
  cr_assert(str_starts(o.fault, "warns.cu compiles with warnings:\nwarns.cu(2): warning"),
            "%.*s", STR_FMT(o.fault));
  cr_assert_eq(strstr(str_cstr(arena, o.fault), "ptxas info"), NULL);
}

Test(nvrtc, an_error_is_a_fault_that_holds_the_log) {
  struct nvrtc_object o = compile("broken.cu", broken, "sm_90a");
  cr_assert_eq(o.cubin.n, 0);
  cr_assert_neq(strstr(str_cstr(arena, o.fault), "identifier \"q\" is undefined"), NULL);
  o = compile("includes.cu", includes, "sm_90a");
  cr_assert_neq(strstr(str_cstr(arena, o.fault), "stdint.h"), NULL,
                "there is no include path");
}

Test(nvrtc, of_many_sources_each_has_its_own_result) {
  enum { N = 6 };
  struct nvrtc_source source[N];
  struct nvrtc_object o[N];
  for (uint32_t i = 0; i < N; i++) {
    source[i] = (struct nvrtc_source){STR("k.cu"), str_of(i == 2 ? broken : good)};
  }
  cr_assert_not(nvrtc_compile(nvrtc, arena, source, N, STR("sm_80"), o));
  for (uint32_t i = 0; i < N; i++) {
    cr_assert_eq(o[i].fault.n == 0, i != 2);
    cr_assert(i == 2 || str_eq(o[i].cubin, o[0].cubin));
  }
}

Test(nvrtc, architectures) {
  static const char *const known[] = {"sm_80", "sm_90", "sm_90a", "sm_100", "sm_100f"};
  static const char *const unknown[] = {"sm_80a",  "sm_999",       "sm_",        "90",
                                        "sm_90b",  "sm_9",         "compute_90", "",
                                        "sm_90aa", "sm_4294967386"};
  for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
    cr_assert(nvrtc_knows(nvrtc, str_of(known[i])), "%s", known[i]);
  }
  for (size_t i = 0; i < sizeof unknown / sizeof *unknown; i++) {
    cr_assert_not(nvrtc_knows(nvrtc, str_of(unknown[i])), "%s", unknown[i]);
  }
  cr_assert(str_starts(nvrtc_archs(arena, nvrtc), "sm_"));
}

Test(nvrtc, options_that_keep_the_bits) {
  const char *options = nvrtc_options(arena, STR("sm_90a")).p;
  static const char *const needed[] = {"--gpu-architecture=sm_90a", "--fmad=false",
                                       "--ftz=false", "--prec-div=true",
                                       "--prec-sqrt=true"};
  for (size_t i = 0; i < sizeof needed / sizeof *needed; i++) {
    cr_assert_neq(strstr(options, needed[i]), NULL, "%s", needed[i]);
  }
}

// ---- the cache

static struct nvrtc_object compile_cached(const struct cache *c, const char *text,
                                          const char *arch) {
  struct nvrtc_source source = {STR("k.cu"), str_of(text)};
  struct nvrtc_object o;
  (void)nvrtc_compile_cached(nvrtc, c, arena, &source, 1, str_of(arch), &o);
  return o;
}

Test(nvrtc, the_cache_gives_back_the_object_that_was_compiled) {
  struct tempdir d = tempdir_new();
  struct str note;
  setenv("STEPC_CACHE_DIR", d.path, 1);
  struct cache c = cache_open(arena, &note);
  struct nvrtc_object first = compile_cached(&c, good, "sm_90a"),
                      again = compile_cached(&c, good, "sm_90a");
  cr_assert(!first.cached && again.cached);
  cr_assert(str_eq(first.cubin, again.cubin) && str_eq(first.ptx, again.ptx));
  cr_assert_eq(again.n_kernels, 1);
  cr_assert(str_is(again.kernel[0].kernel, "good"));
  cr_assert_eq(again.kernel[0].registers, first.kernel[0].registers);
  cr_assert_eq(again.kernel[0].shared, 256);
  cr_assert_not(compile_cached(&c, good, "sm_80").cached, "another architecture");
  for (int i = 0; i < 2; i++) { // a fault is found each time, and not kept
    cr_assert_neq(compile_cached(&c, warns, "sm_90a").fault.n, 0);
  }
  cr_assert_eq(tempdir_count(&d), 2);
  tempdir_remove(&d);
}

// ---- shipped specs

// Two blocks of 256 threads on a multiprocessor.
enum { MOST_REGISTERS = 128 };

struct sources_of {
  VEC(struct nvrtc_source) v;
};

// The kernels of a spec for parameters of one type; those that an earlier spec gave are left out.
static void add_spec(struct sources_of *all, const char *path, enum storage type) {
  const struct job_param_spec params[] = {{"wte", type, type, MATRIX(6, 4), false},
                                          {"h.w", type, type, MATRIX(8, 4), false}};
  struct cpu_job j = cpu_job_open_on(arena, path, NULL, "", params, 2);
  cr_assert(j.job != NULL, "%s", cpu_job_said(&j));
  struct cuda_text *text = cuda_emit(&j.front, j.job, STR(""), &j.ice);
  cr_assert(text != NULL, "%s", cpu_job_said(&j));
  for (uint32_t k = 0; k < text->n_kernels; k++) {
    struct nvrtc_source s = {text->kernel[k].file, text->kernel[k].source};
    bool is_new = true;
    for (uint32_t i = 0; i < all->v.n; i++) {
      is_new = is_new && !str_eq(all->v.v[i].text, s.text);
    }
    if (is_new) {
      VEC_PUSH(arena, all->v, s);
    }
  }
}

static struct sources_of shipped_kernels(void) {
  struct sources_of all = {0};
  struct str *file;
  uint32_t n = golden_list(arena, STEPC_SOURCE_DIR "/specs", ".opt", &file);
  for (uint32_t i = 0; i < n; i++) {
    if (!str_is(file[i], "iterations.opt")) { // has no optimizer
      struct str path = str_fmt(arena, STEPC_SOURCE_DIR "/specs/%.*s", STR_FMT(file[i]));
      add_spec(&all, path.p, ST_F32);
      add_spec(&all, path.p, ST_BF16);
    }
  }
  return all;
}

static void compile_shipped(const char *arch) {
  struct sources_of all = shipped_kernels();
  struct nvrtc_object *o = ARENA_ARRAY(arena, struct nvrtc_object, all.v.n);
  (void)nvrtc_compile(nvrtc, arena, all.v.v, all.v.n, str_of(arch), o);
  cr_assert_gt(all.v.n, 10);
  for (uint32_t i = 0; i < all.v.n; i++) {
    cr_expect_eq(o[i].fault.n, 0, "%s: %.*s", arch, STR_FMT(o[i].fault));
    for (uint32_t k = 0; k < o[i].n_kernels; k++) {
      cr_expect_leq(o[i].kernel[k].registers, MOST_REGISTERS, "%s: %.*s", arch,
                    STR_FMT(o[i].kernel[k].kernel));
    }
  }
}

Test(nvrtc, every_shipped_spec_for_ampere) {
  compile_shipped("sm_80");
}

Test(nvrtc, every_shipped_spec_for_hopper) {
  compile_shipped("sm_90a");
}

Test(nvrtc, every_shipped_spec_for_blackwell) {
  compile_shipped("sm_100");
}

Test(nvrtc_log, resources_are_read_and_warnings_left) {
  static const char log[] =
      "ptxas info    : 0 bytes gmem, 8 bytes cmem[3]\n"
      "ptxas info    : (C7508) Potential Performance Loss: 'setmaxnreg' ignored\n"
      "ptxas info    : Compiling entry function 'z' for 'sm_90a'\n"
      "ptxas info    : Function properties for z\n"
      "ptxas         .     16 bytes stack frame, 12 bytes spill stores, 8 bytes spill "
      "loads\n"
      "ptxas info    : Used 168 registers, used 16 barriers, 1024 bytes smem, 392 bytes "
      "cmem[0]\n"
      "ptxas info    : Compile time = 17.224 ms\n"
      "ptxas info    : Compiling entry function 'b' for 'sm_90a'\n"
      "ptxas info    : Function properties for b\n"
      "ptxas         .     0 bytes stack frame, 0 bytes spill stores, 0 bytes spill "
      "loads\n"
      "ptxas info    : Used 21 registers, used 1 barriers\n"
      "  \n";
  struct arena *a = arena_new(0);
  struct nvrtc_object o = {0};
  struct str rest = nvrtc_read_log(a, str_of(log), &o);
  cr_assert(str_is(rest, "ptxas info    : (C7508) Potential Performance Loss: "
                         "'setmaxnreg' ignored\n"));
  cr_assert_eq(o.n_kernels, 2);
  cr_assert(str_is(o.kernel[0].kernel, "b") && str_is(o.kernel[1].kernel, "z"));
  cr_assert_eq(o.kernel[0].registers, 21);
  cr_assert_eq(o.kernel[0].shared, 0);
  cr_assert_eq(o.kernel[1].registers, 168);
  cr_assert_eq(o.kernel[1].shared, 1024);
  cr_assert_eq(o.kernel[1].stack, 16);
  cr_assert_eq(o.kernel[1].spill_stores, 12);
  cr_assert_eq(o.kernel[1].spill_loads, 8);
  arena_free(a);
}

// ---- where libraries are looked for

static const struct library_spec fake = {.file = "libstepc_fake.so.1",
                                         .wheel = "nvidia/cu13/lib"};

static void make_folders(char *path) {
  for (char *p = path + 1; *p != '\0'; p++) {
    if (*p == '/') {
      *p = '\0';
      (void)mkdir(path, 0700);
      *p = '/';
    }
  }
}

// A library that loads, at PLACE in the folder under its looked-for name.
static void plant(const struct tempdir *d, const char *place) {
  char path[400];
  tempdir_join(d, place, path);
  make_folders(path);
  cr_assert_eq(symlink(STEPC_BUILD_DIR "/fake-blas/libblis.so.4", path), 0);
}

static struct library look(struct arena *a) {
  struct library l = library_open(a, &fake);
  library_close(&l);
  return l;
}

Test(library, says_where_it_looked) {
  struct arena *a = arena_new(0);
  struct tempdir d = tempdir_new();
  tempdir_write(&d, fake.file, "no library", 10);
  setenv("STEPC_LIBRARY_PATH", d.path, 1);
  setenv("VIRTUAL_ENV", "/nonexistent/venv", 1);
  struct library l = look(a);
  const char *why = str_cstr(a, l.why);
  cr_assert(str_starts(l.why, "libstepc_fake.so.1 not found: "));
  cr_assert_neq(strstr(why, "file too short"), NULL, "%s", why);
  cr_assert_neq(strstr(why, "STEPC_LIBRARY_PATH ("), NULL, "%s", why);
  cr_assert_neq(strstr(why, "no wheel in /nonexistent/venv"), NULL, "%s", why);
  cr_assert_neq(strstr(why, "/usr/local/cuda*"), NULL, "%s", why);
  tempdir_remove(&d);
  arena_free(a);
}

Test(library, is_found_in_each_place_in_order) {
  static const struct {
    const char *variable, *root, *place, *how;
  } row[] = {
      // last to first
      {"CUDA_PATH", "path", "path/targets/x86_64-linux/lib", "a CUDA toolkit"},
      {"CUDA_HOME", "home", "home/lib64", "a CUDA toolkit"},
      {"CONDA_PREFIX", "conda", "conda/lib", "conda's package"},
      {"VIRTUAL_ENV", "v[1]*", "v[1]*/lib/python3.11/site-packages/nvidia/cu13/lib",
       "Python's wheel"},
      {"STEPC_LIBRARY_PATH", "first", "first", "STEPC_LIBRARY_PATH"},
  };
  struct arena *a = arena_new(0);
  struct tempdir d = tempdir_new();
  for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
    char root[400];
    plant(&d, str_fmt(a, "%s/%s", row[i].place, fake.file).p);
    setenv(row[i].variable, tempdir_join(&d, row[i].root, root), 1);
    struct library l = look(a);
    cr_assert_neq(l.path.n, 0, "%s: %.*s", row[i].variable, STR_FMT(l.why));
    cr_assert(str_is(l.path, str_fmt(a, "%s/%s/%s", d.path, row[i].place, fake.file).p),
              "%.*s", STR_FMT(l.path));
    cr_assert_str_eq(l.how, row[i].how);
  }
  tempdir_remove(&d);
  arena_free(a);
}

// Removes a file and its folders, but for the first `keep` bytes of its path.
static void unplant(char *path, size_t keep) {
  (void)unlink(path);
  for (char *slash; (slash = strrchr(path, '/')) != NULL && slash > path + keep;) {
    *slash = '\0';
    (void)rmdir(path);
  }
}

Test(library, beside_the_program_only_what_nobody_else_may_write) {
  static const char venv[] = STEPC_BUILD_DIR "/.venv"; // this program lies in the build's
  struct arena *a = arena_new(0);
  char path[1024];
  snprintf(path, sizeof path, "%s/lib/python3.11/site-packages/%s/%s", venv, fake.wheel,
           fake.file);
  make_folders(path);
  cr_assert_eq(symlink(STEPC_BUILD_DIR "/fake-blas/libblis.so.4", path), 0);
  struct library ours = look(a);
  cr_assert_eq(chmod(venv, 0707), 0);
  struct library everybodys = look(a);
  unplant(path, strlen(STEPC_BUILD_DIR));
  cr_expect(str_starts(ours.path, venv), "%.*s", STR_FMT(ours.why));
  cr_expect_eq(everybodys.path.n, 0);
  cr_expect_neq(strstr(str_cstr(a, everybodys.why), "not trusted"), NULL, "%.*s",
                STR_FMT(everybodys.why));
  arena_free(a);
}
