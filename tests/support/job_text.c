#include "support/job_text.h"

struct printer {
  struct buf *out;
  struct arena *arena;
  const struct job *job;
  const struct rule *rule; // NULL: recipe hypers only
};

static void put_hyper(struct printer *p, const struct hyper *h) {
  buf_str(p->out, h->label);
  buf_puts(p->out, h->label.n != 0 ? "." : "");
  buf_str(p->out, h->name);
}

static void put_expr(struct printer *p, const struct texpr *t) {
  switch (t->kind) {
  case TEX_POISON: buf_puts(p->out, "POISON"); break;
  case TEX_CONST: buf_str(p->out, num_shortest(p->arena, t->num)); break;
  case TEX_HYPER: buf_str(p->out, p->job->hyper[t->index].name); break;
  case TEX_STEP: buf_puts(p->out, "step"); break;
  case TEX_PARAM: buf_puts(p->out, "param"); break;
  case TEX_GRAD: buf_puts(p->out, "grad"); break;
  case TEX_STATE: buf_str(p->out, p->rule->state[t->index].name); break;
  case TEX_INPUT: buf_str(p->out, p->rule->input[t->index].name); break;
  case TEX_LET: buf_str(p->out, p->rule->stmt[t->index].name); break;
  case TEX_CALL:
    buf_printf(p->out, "(%s", fn_name(t->fn));
    for (uint32_t i = 0; i < t->n_args; i++) {
      buf_char(p->out, ' ');
      put_expr(p, t->arg[i]);
    }
    if (t->iteration != NULL) {
      buf_printf(p->out, " %.*s", STR_FMT(t->iteration->name));
    }
    buf_char(p->out, ')');
    break;
  }
}

static void put_hypers(struct printer *p) {
  for (uint32_t i = 0; i < p->job->n_hypers; i++) {
    const struct hyper *h = &p->job->hyper[i];
    buf_puts(p->out, "hyper ");
    put_hyper(p, h);
    buf_puts(p->out, " = ");
    if (h->bound != NULL) {
      put_expr(p, h->bound);
    } else {
      buf_str(p->out, num_shortest(p->arena, h->value));
    }
    buf_char(p->out, '\n');
  }
}

static void put_params(struct printer *p) {
  for (uint32_t i = 0; i < p->job->model->n_params; i++) {
    const struct job_param *q = &p->job->param[i];
    buf_str(p->out, p->job->model->param[i].name);
    if (q->use == UINT32_MAX) {
      buf_puts(p->out, ": no update\n");
      continue;
    }
    const struct job_use *u = &p->job->use[q->use];
    buf_printf(p->out, ": %.*s, rule %u", STR_FMT(u->label), q->rule);
    for (uint32_t k = 0; k < q->n_parts; k++) {
      buf_printf(p->out, "%s%u", k == 0 ? ", parts " : " ", q->part[k]);
    }
    buf_printf(p->out, "%s%.*s\n", u->when_text.n != 0 ? " when " : "",
               STR_FMT(u->when_text));
  }
}

static void put_states(struct printer *p) {
  for (uint32_t i = 0; i < p->rule->n_states; i++) {
    const struct rule_state *s = &p->rule->state[i];
    buf_printf(p->out, "  state %.*s : %s", STR_FMT(s->name), storage_name(s->storage));
    if (s->block != 0) {
      buf_printf(p->out, "(%u)", s->block);
    }
    buf_printf(p->out, " %s%s%s%s", cls_name(s->cls), s->is_host ? ", host" : "",
               s->stochastic ? ", stochastic" : "", s->kept_f32 ? ", kept f32" : "");
    if (s->init != NULL) {
      buf_puts(p->out, ", init ");
      put_expr(p, s->init);
    }
    buf_char(p->out, '\n');
  }
  for (uint32_t i = 0; i < p->rule->n_inputs; i++) {
    const struct rule_input *in = &p->rule->input[i];
    buf_printf(p->out, "  input %.*s : %s%s\n", STR_FMT(in->name),
               in->is_scalar ? "scalar" : cls_name(in->cls), in->used ? "" : ", unused");
  }
}

static const char *stage_name(enum stage s) {
  switch (s) {
  case STAGE_STATIC: return "static";
  case STAGE_HOST: return "host";
  case STAGE_DEVICE: return "device";
  }
  return "?";
}

static void put_rule(struct printer *p, uint32_t i) {
  p->rule = p->job->rule[i];
  struct str shape = shape_text(p->arena, &p->rule->shape);
  buf_printf(p->out, "rule %u: %.*s %.*s %s, grad %s", i, STR_FMT(p->rule->name),
             STR_FMT(shape), storage_name(p->rule->dtype), storage_name(p->rule->grad));
  if (p->rule->has_master) {
    buf_printf(p->out, ", master %s", storage_name(p->rule->master));
  }
  buf_char(p->out, '\n');
  put_states(p);
  for (uint32_t k = 0; k < p->rule->n_stmts; k++) {
    const struct rule_stmt *st = &p->rule->stmt[k];
    buf_printf(p->out, "  %s%.*s %s ", st->kind == RULE_LET ? "let " : "",
               STR_FMT(st->name), st->kind == RULE_LET ? "=" : ":=");
    put_expr(p, st->value);
    buf_printf(p->out, "%s  # %s, %s\n", st->stochastic ? " round stochastic" : "",
               stage_name(st->value->stage), cls_name(st->value->cls));
  }
}

struct str job_text(struct arena *a, const struct job *job) {
  struct buf out = buf_new(a);
  struct printer p = {&out, a, job, NULL};
  buf_printf(&out, "job %.*s\n", STR_FMT(job->name));
  put_hypers(&p);
  if (job->clip != NULL) {
    buf_puts(&out, "clip ");
    put_expr(&p, job->clip);
    buf_char(&out, '\n');
  }
  buf_puts(&out, job->skip_nonfinite ? "skip nonfinite\n" : "");
  put_params(&p);
  for (uint32_t i = 0; i < job->n_rules; i++) {
    put_rule(&p, i);
  }
  return buf_done(&out);
}
