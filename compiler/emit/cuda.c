// The CUDA target's text from a job in IR.
#include "emit/cuda_int.h"
#include "emit/refuse.h"

struct emitter {
  struct cuda_writer w;
  VEC(struct cuda_kernel) list;
};

static void add_maps(struct emitter *e) {
  struct kernels kernels = {.arena = e->w.arena};
  for (uint32_t r = 0; r < e->w.j->job->n_rules; r++) {
    (void)kernels_of_rule(&kernels, e->w.j->phases[r], e->w.ice);
  }
  for (uint32_t i = 0; i < kernels.list.n; i++) {
    struct cuda_kernel k = cuda_map_kernel(&e->w, kernels.list.v[i]);
    VEC_PUSH(e->w.arena, e->list, k);
  }
}

// One for each storage of a gradient, in the order of `enum storage`.
static void add_gradients(struct emitter *e) {
  const struct job *job = e->w.j->job;
  if (job->clip == NULL && !job->skip_nonfinite) {
    return;
  }
  bool used[ST_BF16 + 1] = {0};
  for (uint32_t r = 0; r < job->n_rules; r++) {
    used[job->rule[r]->grad] = true; // others were refused
  }
  for (uint32_t s = 0; s <= ST_BF16; s++) {
    if (used[s]) {
      struct cuda_kernel k = cuda_squares_kernel(&e->w, (enum storage)s);
      VEC_PUSH(e->w.arena, e->list, k);
    }
  }
  struct cuda_kernel k = cuda_verdict_kernel(&e->w);
  VEC_PUSH(e->w.arena, e->list, k);
}

struct cuda_text *cuda_emit(struct front *f, const struct job_ir *j, struct str command,
                            struct str *ice) {
  *ice = STR("");
  if (target_refuse(f, j, STR("cuda"))) {
    return NULL;
  }
  struct emitter e = {
      .w = {.arena = f->arena, .front = f, .j = j, .command = command, .ice = ice}};
  add_maps(&e);
  add_gradients(&e);
  struct cuda_text *text = ARENA_NEW(f->arena, struct cuda_text);
  *text = (struct cuda_text){e.list.v, e.list.n};
  return ice->n == 0 ? text : NULL;
}
