// The CUDA target's text from a job in IR.
#include "emit/cpu_plan.h"
#include "emit/cuda_ortho.h"
#include "emit/refuse.h"

struct emitter {
  struct cuda_writer w;
  struct cuda_text *text;
  VEC(struct cuda_kernel) list;
  VEC(struct rt_ortho_set) ortho;
};

// The kernel of the program at the same index.
static void add_maps(struct emitter *e) {
  const struct kernels *kernels = &e->text->plan->kernels;
  for (uint32_t i = 0; i < kernels->list.n; i++) {
    struct cuda_kernel k = cuda_map_kernel(&e->w, kernels->list.v[i]);
    VEC_PUSH(e->w.arena, e->list, k);
  }
}

// One for each storage of a gradient, in the order of `enum storage`.
static void add_gradients(struct emitter *e) {
  const struct job *job = e->w.j->job;
  if (job->clip == NULL && !job->skip_nonfinite) {
    return;
  }
  bool used[ST_F16 + 1] = {0};
  for (uint32_t r = 0; r < job->n_rules; r++) {
    used[job->rule[r]->grad] = true; // others were refused
  }
  for (uint32_t s = 0; s <= ST_F16; s++) {
    if (used[s]) {
      struct cuda_kernel k = cuda_squares_kernel(&e->w, (enum storage)s);
      k.storage = s;
      VEC_PUSH(e->w.arena, e->list, k);
    }
  }
  if (job->model->world > 1) {
    struct cuda_kernel k = cuda_merge_kernel(&e->w);
    VEC_PUSH(e->w.arena, e->list, k);
  }
  struct cuda_kernel k = cuda_verdict_kernel(&e->w);
  VEC_PUSH(e->w.arena, e->list, k);
}

static struct rt_ortho_set *find_set(struct emitter *e, uint32_t operand,
                                     const struct rt_iteration *it) {
  bool cast_first = it->compute == RT_BF16 && operand == RT_F32 && !it->norm_in_f32;
  for (uint32_t i = 0; i < e->ortho.n; i++) {
    struct rt_ortho_set *s = &e->ortho.v[i];
    if (s->operand == operand && s->compute == it->compute &&
        s->cast_first == cast_first) {
      return s;
    }
  }
  struct rt_ortho_set s = {
      .operand = operand, .compute = it->compute, .cast_first = cast_first};
  for (uint32_t i = 0; i < RT_N_ORTHO_KERNELS; i++) {
    s.kernel[i] = RT_NO_ID;
  }
  VEC_PUSH(e->w.arena, e->ortho, s);
  return &e->ortho.v[e->ortho.n - 1];
}

// The sets of kernels that the rules' matrix phases need; `aol` by set.
static void find_sets(struct emitter *e, bool *aol) {
  const struct steprt_program *p = &e->text->plan->program;
  for (uint32_t r = 0; r < p->n_rules; r++) {
    for (uint32_t i = 0; i < p->rule[r].n_phases; i++) {
      const struct rt_phase *ph = &p->rule[r].phase[i];
      if (ph->kind == RT_PHASE_ORTHO) {
        const struct rt_iteration *it = &p->iteration[ph->kernel];
        struct rt_ortho_set *s = find_set(e, ph->tensor[0].storage, it);
        aol[s - e->ortho.v] |= it->norm == RT_NORM_AOL;
      }
    }
  }
}

// f32 or bf16, cast first or not: at most this many sets.
enum { MOST_SETS = 8 };

static void add_orthos(struct emitter *e) {
  bool aol[MOST_SETS] = {0};
  find_sets(e, aol);
  for (uint32_t i = 0; i < e->ortho.n; i++) {
    struct rt_ortho_set *s = &e->ortho.v[i];
    struct cuda_ortho o = {.operand = (enum storage)s->operand,
                           .compute = (enum storage)s->compute,
                           .cast_first = s->cast_first,
                           .aol = aol[i]};
    struct cuda_kernel kernel[RT_N_ORTHO_KERNELS];
    uint32_t n = cuda_ortho_kernels(&e->w, &o, kernel);
    for (uint32_t k = 0; k < n; k++) {
      s->kernel[kernel[k].ortho] = e->list.n;
      VEC_PUSH(e->w.arena, e->list, kernel[k]);
    }
  }
}

struct cuda_text *cuda_emit(struct front *f, const struct job_ir *j, struct str command,
                            struct str *ice) {
  *ice = STR("");
  if (target_refuse(f, j, STR("cuda"))) {
    return NULL;
  }
  struct cuda_text *text = ARENA_NEW(f->arena, struct cuda_text);
  *text = (struct cuda_text){.plan = cpu_plan_build(f->arena, j, 0, ice)};
  if (ice->n != 0) {
    return NULL;
  }
  struct emitter e = {
      .w = {.arena = f->arena, .front = f, .j = j, .command = command, .ice = ice},
      .text = text};
  add_maps(&e);
  add_gradients(&e);
  add_orthos(&e);
  text->kernel = e.list.v;
  text->n_kernels = e.list.n;
  text->ortho = e.ortho.v;
  text->n_ortho = e.ortho.n;
  return ice->n == 0 ? text : NULL;
}
