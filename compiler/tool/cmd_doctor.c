// stepc doctor: what this machine offers, where it was found, and why not.
#include "emit/cpu.h"
#include "emit/library.h"
#include "emit/nvrtc.h"
#include "tool/devices.h"
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

// Emitting for CUDA needs NVRTC and its built-ins alone; no GPU and no driver.
static void examine_nvrtc(struct tool *t, struct findings *all) {
  struct arena *a = t->arena;
  struct str why = STR(""), builtins = STR("");
  struct nvrtc *n = nvrtc_open(a, &why);
  struct str what = why;
  if (n != NULL) {
    builtins = nvrtc_builtins(n, &why);
    what = str_fmt(a, "%.*s (%s), version %s, for %s", STR_FMT(nvrtc_path(n)),
                   nvrtc_how(n), nvrtc_version(a, n).p, nvrtc_archs(a, n).p);
  }
  add(t, all, "NVRTC", "CUDA kernels", n != NULL, what);
  add(t, all, "NVRTC built-ins", "CUDA kernels", builtins.n != 0,
      builtins.n != 0 ? builtins
      : n != NULL     ? why
                      : STR("they lie beside NVRTC"));
  nvrtc_close(n);
}

// Parts of targets to come are looked for now, so that a machine can be prepared.
static void examine_library(struct tool *t, struct findings *all, const char *part,
                            const char *use, const struct library_spec *spec) {
  struct library lib = library_open(t->arena, spec);
  struct str what = lib.why;
  int major, minor;
  if (lib.handle != NULL) {
    what = str_fmt(t->arena, "%.*s (%s)", STR_FMT(lib.path), lib.how);
    if (library_version(&lib, spec, &major, &minor)) {
      what = str_fmt(t->arena, "%.*s, version %d.%d", STR_FMT(what), major, minor);
    }
  }
  add(t, all, part, use, lib.handle != NULL, what);
  library_close(&lib);
}

// The driver and its devices; no context is made.
static void examine_devices(struct tool *t, struct findings *all) {
  struct rt_gpus *g = ARENA_ARRAY(t->arena, struct rt_gpus, 1);
  char why[1024] = "";
  bool found = rt_gpus(g, why, sizeof why) == STEPRT_OK;
  struct str text = str_copy(t->arena, str_of(why));
  add(t, all, "CUDA driver", "the CUDA target", g->how != NULL,
      g->how != NULL ? driver_text(t->arena, g) : text);
  for (uint32_t i = 0; found && i < g->n; i++) {
    add(t, all, str_fmt(t->arena, "GPU %u", i).p, "the CUDA target", true,
        device_text(t->arena, &g->gpu[i]));
  }
  if (!found) {
    add(t, all, "GPU", "the CUDA target", false,
        g->how != NULL ? text : STR("without the CUDA driver no device is seen"));
  }
}

static void print_text(struct tool *t, const struct findings *all) {
  struct table table = {.arena = t->arena, .columns = "llll"};
  for (uint32_t i = 0; i < all->v.n; i++) {
    const struct finding *f = &all->v.v[i];
    TABLE_ROW(&table, str_of(f->part), f->found ? STR("found") : STR("missing"),
              str_fmt(t->arena, "for %s:", f->use), str_escape(t->arena, f->what));
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
    buf_json(&b, f->what);
    buf_puts(&b, i + 1 < all->v.n ? "},\n" : "}\n]\n");
  }
  out_str(t, buf_done(&b));
}

enum exit_code cmd_doctor(struct tool *t) {
  static const struct library_spec cublas = {"libcublasLt.so.13", "nvidia/cu13/lib", NULL,
                                             0};
  static const struct library_spec nccl = {"libnccl.so.2", "nvidia/nccl/lib",
                                           "ncclGetVersion", 10000};
  static const struct library_spec mpi = {"libmpi.so.40", NULL, "MPI_Get_version", 0};
  struct findings all = {0};
  examine_cpu(t, &all);
  examine_blas(t, &all);
  examine_nvrtc(t, &all);
  examine_devices(t, &all);
  examine_library(t, &all, "cuBLASLt", "orthogonalize on a GPU", &cublas);
  examine_library(t, &all, "NCCL", "several GPUs, to come", &nccl);
  examine_library(t, &all, "MPI", "several hosts, to come", &mpi);
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
