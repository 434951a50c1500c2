// stepc doctor: what this machine offers, where it was found, and why not.
#include "emit/cpu.h"
#include "tool/library.h"
#include "tool/table.h"
#include "tool/tool.h"

#include "core/ortho.h"
#include "core/team.h"

struct finding {
  const char *part; // "BLAS"
  const char *use;  // what it is for
  bool found;
  struct str what; // what was found and where; or what was tried, and why not
};
struct findings {
  VEC(struct finding) v;
};

static void add(struct tool *t, struct findings *all, const char *part, const char *use,
                bool found, struct str what) {
  struct finding f = {part, use, found, what};
  VEC_PUSH(t->arena, all->v, f);
}

static void examine_cpu(struct tool *t, struct findings *all) {
  struct rt_team *team = NULL;
  uint32_t threads = rt_team_new(0, &team) == STEPRT_OK ? rt_team_size(team) : 0;
  rt_team_free(team);
  add(t, all, "CPU", "the CPU target", threads != 0,
      str_fmt(t->arena, "%s, %u threads", cpu_host_name(t->arena).p, threads));
  add(t, all, "LLVM", "the CPU target", true, STR(STEPC_LLVM_VERSION ", linked in"));
}

static void examine_blas(struct tool *t, struct findings *all) {
  struct rt_blas *blas = NULL;
  char why[1024] = "";
  bool found = rt_blas_open(&blas, why, sizeof why) == STEPRT_OK;
  add(t, all, "BLAS", "orthogonalize on the CPU", found,
      str_copy(t->arena, str_of(found ? rt_blas_name(blas) : why)));
  rt_blas_close(blas);
}

// The CUDA parts serve targets to come; they are looked for now, so that a machine can be prepared.
static void examine_library(struct tool *t, struct findings *all, const char *part,
                            const char *use, const struct library_spec *spec) {
  struct library lib = library_open(t->arena, spec);
  struct str what = lib.handle == NULL ? lib.why : lib.path;
  if (lib.handle != NULL && spec->version != NULL) {
    what = str_fmt(t->arena, "%.*s, version %s", STR_FMT(lib.path),
                   library_version(t->arena, &lib, spec).p);
  }
  add(t, all, part, use, lib.handle != NULL, what);
  library_close(&lib);
}

static void examine_devices(struct tool *t, struct findings *all) {
  struct str why = STR("");
  struct str devices = cuda_devices(t->arena, &why);
  add(t, all, "GPU", "the CUDA target, to come", devices.n != 0,
      devices.n != 0 ? devices : why);
}

static void print_text(struct tool *t, const struct findings *all) {
  struct table table = {.arena = t->arena, .columns = "llll"};
  for (uint32_t i = 0; i < all->v.n; i++) {
    const struct finding *f = &all->v.v[i];
    TABLE_ROW(&table, str_of(f->part), f->found ? STR("found") : STR("missing"),
              str_escape(t->arena, f->what), str_fmt(t->arena, "(%s)", f->use));
  }
  out_str(t, table_text(&table));
}

static void print_json(struct tool *t, const struct findings *all) {
  struct buf b = buf_new(t->arena);
  buf_puts(&b, "[\n");
  for (uint32_t i = 0; i < all->v.n; i++) {
    const struct finding *f = &all->v.v[i];
    buf_printf(&b,
               "  {\"part\": \"%s\", \"use\": \"%s\", \"found\": %s, \"what\": ", f->part,
               f->use, f->found ? "true" : "false");
    json_put_text(&b, f->what);
    buf_puts(&b, i + 1 < all->v.n ? "},\n" : "}\n]\n");
  }
  out_str(t, buf_done(&b));
}

enum exit_code cmd_doctor(struct tool *t) {
  static const struct library_spec nvrtc = {"libnvrtc.so.13", "nvrtcVersion", 0};
  static const struct library_spec driver = {"libcuda.so.1", "cuDriverGetVersion", 1000};
  static const struct library_spec cublas = {"libcublasLt.so.13", NULL, 0};
  static const struct library_spec nccl = {"libnccl.so.2", "ncclGetVersion", 10000};
  struct findings all = {0};
  examine_cpu(t, &all);
  examine_blas(t, &all);
  examine_library(t, &all, "NVRTC", "CUDA kernels, to come", &nvrtc);
  examine_library(t, &all, "CUDA driver", "the CUDA target, to come", &driver);
  examine_devices(t, &all);
  examine_library(t, &all, "cuBLASLt", "the CUDA target, to come", &cublas);
  examine_library(t, &all, "NCCL", "several GPUs, to come", &nccl);
  if (args_has(&t->args, OPT_JSON)) {
    print_json(t, &all);
  } else {
    print_text(t, &all);
  }
  // Only what this version needs decides: the CPU and a BLAS.
  for (uint32_t i = 0; i < 3; i++) {
    if (!all.v.v[i].found) {
      return EXIT_ENVIRONMENT;
    }
  }
  return EXIT_OK;
}
