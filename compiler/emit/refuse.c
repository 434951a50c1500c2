// One honest message for everything that the front end accepts and no back end executes yet.
#include "emit/refuse.h"

struct refuser {
  struct front *f;
  const struct job_ir *j;
  struct str target;
  bool refused;
};

static void refuse(struct refuser *r, struct span at, struct str thing) {
  DIAG(r->f->diags, at, E0701, thing, r->target);
  r->refused = true;
}

static bool executes_storage(enum storage s) {
  return s == ST_F32 || s == ST_BF16;
}

// ---- the model

static void check_dtypes(struct refuser *r, const struct rule *rule,
                         const struct model_param *p, bool *seen) {
  struct arena *a = r->f->arena;
  if (!executes_storage(rule->dtype) && !seen[rule->dtype]) {
    seen[rule->dtype] = true;
    refuse(r, NO_SPAN,
           str_fmt(a, "a parameter stored as %s (`%.*s`)", storage_name(rule->dtype),
                   STR_FMT(p->name)));
  }
}

static void check_model(struct refuser *r) {
  const struct job *job = r->j->job;
  bool seen_dtype[ST_Q8U + 1] = {0};
  for (uint32_t i = 0; i < job->model->n_params; i++) {
    const struct model_param *p = &job->model->param[i];
    if (job->param[i].rule == UINT32_MAX) {
      continue;
    }
    check_dtypes(r, job->rule[job->param[i].rule], p, seen_dtype);
  }
}

// ---- the recipe

static const char *view_text(enum view_kind k) {
  switch (k) {
  case VIEW_SPLIT_ROWS: return "the view `split rows`";
  case VIEW_SPLIT_COLS: return "the view `split cols`";
  case VIEW_FLATTEN: return "the view `flatten`";
  case VIEW_TRANSPOSED: return "the view `transposed`";
  case VIEW_BLOCKWISE: return "the view `blockwise`";
  }
  return "this view";
}

static void check_use(struct refuser *r, const struct use *u) {
  for (uint32_t i = 0; i < u->n_views; i++) {
    refuse(r, u->view[i].span, str_of(view_text(u->view[i].kind)));
  }
  for (uint32_t i = 0; i < u->n_keeps; i++) {
    refuse(r, u->keep[i].span,
           u->keep[i].kind == KEEP_MASTER ? STR("`master`") : STR("`store`"));
  }
}

// ---- rules

static void check_states(struct refuser *r, const struct rule *rule) {
  struct arena *a = r->f->arena;
  for (uint32_t i = 0; i < rule->n_states; i++) {
    const struct rule_state *s = &rule->state[i];
    if (s->is_host) {
      continue;
    }
    if (s->cls != CLS_ELEM) {
      refuse(r, s->span,
             str_fmt(a, "the %s state `%.*s`", cls_name(s->cls), STR_FMT(s->name)));
    }
    if (!executes_storage(s->storage)) {
      refuse(r, s->span,
             str_fmt(a, "the state `%.*s` stored as %s", STR_FMT(s->name),
                     storage_name(s->storage)));
    }
    if (s->stochastic) {
      refuse(r, s->span, str_fmt(a, "stochastic rounding of `%.*s`", STR_FMT(s->name)));
    }
  }
}

static void check_rule(struct refuser *r, const struct rule *rule) {
  check_states(r, rule);
  for (uint32_t i = 0; i < rule->n_inputs; i++) {
    if (rule->input[i].used) {
      refuse(r, NO_SPAN,
             str_fmt(r->f->arena, "the input `%.*s` of `%.*s`",
                     STR_FMT(rule->input[i].name), STR_FMT(rule->name)));
    }
  }
  for (uint32_t i = 0; i < rule->n_stmts; i++) {
    const struct rule_stmt *s = &rule->stmt[i];
    if (s->kind == RULE_PARAM && s->stochastic) {
      refuse(r, s->span, STR("stochastic rounding of `param`"));
    }
  }
}

static void check_iteration(struct refuser *r, const struct ir_iteration *it,
                            struct span at) {
  struct arena *a = r->f->arena;
  if (!executes_storage(it->compute)) {
    refuse(r, at,
           str_fmt(a, "`compute %s` of iteration `%.*s`", storage_name(it->compute),
                   STR_FMT(it->name)));
  }
  if (it->form == FORM_GRAM) {
    refuse(r, at, str_fmt(a, "`form gram` of iteration `%.*s`", STR_FMT(it->name)));
  }
}

static void check_ir(struct refuser *r, const struct ir *ir) {
  for (uint32_t i = 0; i < ir->ins.n; i++) {
    const struct ir_ins *ins = &ir->ins.v[i];
    if (ir_op_info(ins->op)->kind == IRK_REDUCE) {
      refuse(r, ins->span,
             str_fmt(r->f->arena, "the reduction `%s`", ir_op_info(ins->op)->text));
    } else if (ins->op == IR_ORTHO) {
      check_iteration(r, &ir->iteration.v[ins->index], ins->span);
    }
  }
}

bool target_refuse(struct front *f, const struct job_ir *j, struct str target) {
  struct refuser r = {.f = f, .j = j, .target = target};
  check_model(&r);
  for (uint32_t i = 0; i < j->job->n_uses; i++) {
    if (j->job->use[i].use != NULL) {
      check_use(&r, j->job->use[i].use);
    }
  }
  for (uint32_t i = 0; i < j->job->n_rules; i++) {
    check_rule(&r, j->job->rule[i]);
    check_ir(&r, j->ir[i]);
  }
  return r.refused;
}
