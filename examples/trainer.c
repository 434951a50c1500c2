// A trainer that compiles its optimizer at start-up: the network of spiral.c learns once under AdamW and once with
// Muon on its hidden matrix. Copy from here what a trainer of yours needs.
//
//   build/release/trainer [SPECS]     SPECS: the folder of adamw.opt and muon.opt; default specs
#include "spiral.h"

#include "stepc.h"
#include "steprt.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { STEPS = 200 };

static double seconds(void) {
  struct timespec t;
  timespec_get(&t, TIME_UTC);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

// Compiles `job` for the tensors of the network and binds them. On failure it says why; both are to be freed anyway.
static int open_optimizer(struct net *n, struct stepc_job job,
                          struct steprt_program **program, struct steprt **rt) {
  struct stepc_param params[N_TENSORS];
  void *values[N_TENSORS];
  for (int t = 0; t < N_TENSORS; t++) {
    params[t] = (struct stepc_param){.size = sizeof params[t],
                                     .name = net_names[t],
                                     .dim = net_dims[t],
                                     .rank = t % 2 == 0 ? 2 : 1};
    values[t] = n->value[t];
  }
  job.size = sizeof job;
  job.params = params;
  job.n_params = N_TENSORS;
  stepc_status compiled = stepc_compile(&job, program);
  fputs(stepc_program_messages(*program), stderr); // warnings too
  if (compiled != STEPC_OK) {
    fprintf(stderr, "%s: %s\n", stepc_status_text(compiled),
            stepc_program_error(*program));
    return 0;
  }
  steprt_status status = steprt_open(*program, NULL, rt);
  if (status == STEPRT_OK) {
    status = steprt_bind(*rt, values);
  }
  if (status != STEPRT_OK) {
    fprintf(stderr, "%s: %s\n", steprt_status_text(status), steprt_error(*rt));
  }
  return status == STEPRT_OK;
}

static int take_step(struct steprt *rt, const void *const *grads) {
  struct steprt_step step = {.size = sizeof step, .grads = grads};
  if (steprt_begin(rt, &step) != STEPRT_OK || steprt_run(rt, NULL) != STEPRT_OK ||
      steprt_end(rt) != STEPRT_OK || steprt_wait_all(rt) != STEPRT_OK) {
    fprintf(stderr, "step: %s\n", steprt_error(rt));
    return 0;
  }
  return 1;
}

// Trains from the same start. `label` names the use line whose learning rate, `lr`, falls to zero.
static int train(struct net *n, const char *title, struct stepc_job job,
                 const char *label, double lr) {
  struct steprt_program *program = NULL;
  struct steprt *rt = NULL;
  const void *grads[N_TENSORS];
  for (int t = 0; t < N_TENSORS; t++) {
    grads[t] = n->grad[t];
  }
  net_reset(n);
  double start = seconds();
  int ok = open_optimizer(n, job, &program, &rt);
  double opened = seconds() - start, first = 0;
  int32_t hyper = steprt_hyper(rt, label, "lr");
  for (int i = 0; i <= STEPS && ok; i++) {
    double loss = net_loss_and_gradients(n), begun = seconds();
    if (i % 50 == 0) {
      printf("%s  step %3d  loss %.4f\n", title, i, loss);
    }
    ok = steprt_set_hyper(rt, hyper, lr * (1 - (double)i / (double)STEPS)) == STEPRT_OK &&
         take_step(rt, grads);
    first = i == 0 ? seconds() - begun : first;
  }
  if (ok) {
    printf("%s  compiled, opened and first step: %.0f ms\n", title,
           1e3 * (opened + first));
  }
  steprt_destroy(rt); // before its program
  stepc_program_free(program);
  return ok;
}

int main(int argc, char **argv) {
  const char *specs = argc > 1 ? argv[1] : "specs";
  char adamw[1024], mine[1024];
  struct net *n = malloc(sizeof *n);
  if (n == NULL || strlen(specs) > 1000) {
    fputs("out of memory, or a path too long\n", stderr);
    free(n);
    return 1;
  }
  snprintf(adamw, sizeof adamw, "%s/adamw.opt", specs);
  snprintf(mine, sizeof mine, "%s/trainer.opt",
           specs); // not on disk: where its imports are looked for
  struct stepc_job with_adamw = {.spec = adamw};
  struct stepc_job with_muon = {
      .spec = mine,
      .spec_text = "spec 1\nimport \"adamw.opt\"\nimport \"muon.opt\"\n"
                   "recipe trainer {\n"
                   "  use muon(ns = polar_express)       when name ~ \"hidden.w\"\n"
                   "  use adamw as rest(lr = 0.01, wd = 0.0)\n"
                   "}\n"};
  int ok = train(n, "AdamW", with_adamw, "adamw", 0.01) &&
           train(n, "Muon ", with_muon, "muon", 0.05);
  free(n);
  return ok ? 0 : 1;
}
