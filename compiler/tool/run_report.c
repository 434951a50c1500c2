// Texts of `stepc run`.
#include "tool/run_report.h"

#include "tool/plan_totals.h"
#include "tool/spread.h"
#include "tool/table.h"

#include <math.h>
#include <string.h>

struct use_totals {
  uint64_t tensors, elements, state_bytes;
};

static uint64_t state_bytes_of(const struct driver *d, uint32_t param) {
  const struct rt_plan_param *p = &d->plan->param[param];
  uint64_t bytes = 0;
  for (uint32_t i = 0; i < p->n_states; i++) {
    bytes += d->plan->state[p->first_state + i].bytes;
  }
  return bytes;
}

static struct use_totals totals_of(const struct driver *d, uint32_t use) {
  struct use_totals t = {0};
  for (uint32_t i = 0; i < d->model->n_params; i++) {
    if (d->job->param[i].use == use) {
      t.tensors++;
      t.elements += shape_numel(&d->model->param[i].shape);
      t.state_bytes += state_bytes_of(d, i);
    }
  }
  return t;
}

static uint64_t frozen_or_tied(const struct driver *d) {
  uint64_t n = 0;
  for (uint32_t i = 0; i < d->model->n_params; i++) {
    n += d->job->param[i].use == UINT32_MAX;
  }
  return n;
}

static struct str reason_of(const struct job_use *use) {
  return use->use == NULL        ? STR("picked")
         : use->when_text.n != 0 ? use->when_text
                                 : STR("everything else");
}

static const char *plural(struct arena *a, uint64_t n, const char *noun) {
  return str_fmt(a, "%llu %s%s", (unsigned long long)n, noun, n == 1 ? "" : "s").p;
}

static struct str rules_table(struct arena *a, const struct driver *d) {
  struct table t = {.arena = a, .columns = "llrrrl"};
  TABLE_ROW(&t, STR("rule"), STR("optimizer"), STR("tensors"), STR("elements"),
            STR("state"), STR("when"));
  for (uint32_t u = 0; u < d->job->n_uses; u++) {
    const struct job_use *use = &d->job->use[u];
    struct use_totals x = totals_of(d, u);
    TABLE_ROW(&t, use->label, use->optimizer->name,
              str_fmt(a, "%llu", (unsigned long long)x.tensors),
              text_count(a, (double)x.elements), text_bytes(a, (double)x.state_bytes),
              reason_of(use));
  }
  return table_text(&t);
}

struct str run_rules_text(struct arena *a, const struct driver *d, struct str target,
                          uint32_t threads) {
  const struct driver_times *x = &d->times;
  struct buf b = buf_new(a);
  struct str model = d->model->name.n != 0 ? d->model->name : d->model->path;
  buf_printf(&b, "%.*s on %s: %u tensors, %s elements; %s, %s\n", STR_FMT(d->job->name),
             str_escape(a, model).p, d->model->n_params,
             text_count(a, (double)model_numel(d->model)).p, target.p,
             plural(a, threads, "thread"));
  buf_printf(&b, "compiled in %s: %s for %s on %u shapes and types\n\n",
             text_seconds(a, x->parse + x->model + x->sema + x->lower + x->compile).p,
             plural(a, d->step->n_kernels, "kernel"), plural(a, d->job->n_uses, "rule"),
             d->job->n_rules);
  buf_str(&b, rules_table(a, d));
  uint64_t without = frozen_or_tied(d);
  if (without != 0) {
    buf_printf(&b, "%llu frozen or tied: no rule\n", (unsigned long long)without);
  }
  return buf_done(&b);
}

static void spread_row(struct table *t, struct str name, const double *x, uint64_t n) {
  struct spread s = spread_of(t->arena, x, n);
  TABLE_ROW(t, name, text_seconds(t->arena, s.median), text_seconds(t->arena, s.least));
}

struct str run_times_text(struct arena *a, const struct run_numbers *n, bool clips) {
  struct buf b = buf_new(a);
  struct table t = {.arena = a, .columns = "lrr"};
  TABLE_ROW(&t, str_of(plural(a, n->steps, "step")), STR("median"), STR("fastest"));
  spread_row(&t, STR("step"), n->seconds, n->steps);
  spread_row(&t, STR("  element-wise phases and norm"), n->map, n->steps);
  if (spread_of(a, n->matrix, n->steps).median > 0) {
    spread_row(&t, STR("  matrix products"), n->matrix, n->steps);
  }
  buf_str(&b, table_text(&t));
  double map = spread_of(a, n->map, n->steps).median, bytes = (double)n->bytes;
  buf_printf(&b, "\nelement-wise phases move %s per step", text_bytes(a, bytes).p);
  if (map > 0) {
    buf_printf(&b, ": %.1f GB/s", bytes / map * 1e-9);
  }
  if (n->copy > 0 && map > 0) {
    buf_printf(&b,
               "\na memory copy of as many bytes   : %.1f GB/s (%s); the step's phases "
               "run at %.2f of it",
               bytes / n->copy * 1e-9, text_seconds(a, n->copy).p, n->copy / map);
  }
  buf_char(&b, '\n');
  if (clips) {
    buf_printf(&b, "last gradient norm %.6g, clip factor %.6g\n", n->grad_norm,
               n->clip_factor);
  }
  if (n->skipped != 0) {
    buf_printf(&b, "%llu of %llu steps skipped: gradients not finite\n",
               (unsigned long long)n->skipped, (unsigned long long)n->steps);
  }
  return buf_done(&b);
}

static void json_numbers(struct buf *b, const char *name, const double *x, uint64_t n) {
  buf_printf(b, "  \"%s\": [", name);
  for (uint64_t i = 0; i < n; i++) {
    buf_printf(b, "%s%.9g", i != 0 ? ", " : "", x[i]);
  }
  buf_puts(b, "],\n");
}

// JSON has no word for what is not finite.
static void json_number(struct buf *b, const char *name, double x) {
  if (isfinite(x)) {
    buf_printf(b, "\"%s\": %.17g, ", name, x);
  } else {
    buf_printf(b, "\"%s\": null, ", name);
  }
}

// The lines of --digest as texts.
static void json_digests(struct buf *b, struct str digests) {
  buf_puts(b, "  \"digests\": [");
  for (size_t at = 0; at < digests.n;) {
    const char *line = digests.p + at;
    size_t n = (size_t)((const char *)memchr(line, '\n', digests.n - at) - line);
    buf_puts(b, at != 0 ? ",\n    " : "\n    ");
    buf_json(b, (struct str){line, n});
    at += n + 1;
  }
  buf_puts(b, "],\n");
}

static void json_rules(struct buf *b, const struct driver *d) {
  for (uint32_t u = 0; u < d->job->n_uses; u++) {
    const struct job_use *use = &d->job->use[u];
    struct use_totals x = totals_of(d, u);
    buf_puts(b, "    {\"label\": ");
    buf_json(b, use->label);
    buf_puts(b, ", \"optimizer\": ");
    buf_json(b, use->optimizer->name);
    buf_printf(
        b, ", \"tensors\": %llu, \"elements\": %llu, \"state_bytes\": %llu, \"when\": ",
        (unsigned long long)x.tensors, (unsigned long long)x.elements,
        (unsigned long long)x.state_bytes);
    buf_json(b, use->when_text);
    buf_puts(b, u + 1 < d->job->n_uses ? "},\n" : "}\n  ],\n");
  }
}

struct str run_json(struct arena *a, const struct driver *d, struct str target,
                    const struct run_numbers *n, struct str digests) {
  struct buf b = buf_new(a);
  buf_puts(&b, "{\n  \"job\": ");
  buf_json(&b, d->job->name);
  buf_puts(&b, ", \"model\": ");
  buf_json(&b, d->model->name.n != 0 ? d->model->name : d->model->path);
  buf_printf(&b, ", \"target\": \"%s\", \"threads\": %u,\n  \"rules\": [\n", target.p,
             n->threads);
  json_rules(&b, d);
  const struct plan_totals *plan = plan_total(a, d->plan);
  buf_printf(&b,
             "  \"loaded_bytes\": %llu, \"stored_bytes\": %llu, \"host_bytes\": %llu, "
             "\"plan\": \"%s\",\n",
             (unsigned long long)plan->loaded, (unsigned long long)plan->stored,
             (unsigned long long)d->plan->host_bytes, d->plan->digest);
  json_numbers(&b, "step_seconds", n->seconds, n->steps);
  json_numbers(&b, "map_seconds", n->map, n->steps);
  json_numbers(&b, "matrix_seconds", n->matrix, n->steps);
  if (digests.n != 0) {
    json_digests(&b, digests);
  }
  buf_printf(&b, "  \"bytes_moved\": %llu, \"copy_seconds\": %.9g, ",
             (unsigned long long)n->bytes, n->copy);
  json_number(&b, "grad_norm", n->grad_norm);
  json_number(&b, "clip_factor", n->clip_factor);
  buf_printf(&b, "\"skipped\": %llu\n}\n", (unsigned long long)n->skipped);
  return buf_done(&b);
}
