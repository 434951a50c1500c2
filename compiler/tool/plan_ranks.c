// The plans of all ranks, compared.
#include "tool/plan_ranks.h"

#include "tool/plan_words.h"
#include "tool/table.h"

#include <string.h>

// One number of a plan: its name in text, and in JSON; bytes are shown with binary prefixes.
struct measure {
  const char *name, *json;
  bool bytes;
  uint64_t (*of)(const struct plan_totals *t);
};

static uint64_t elements(const struct plan_totals *t) {
  return t->elements;
}
static uint64_t streams(const struct plan_totals *t) {
  return t->loaded;
}
static uint64_t resident(const struct plan_totals *t) {
  return t->plan->state_bytes;
}
static uint64_t arena_size(const struct plan_totals *t) {
  return t->plan->arena_bytes;
}
static uint64_t host(const struct plan_totals *t) {
  return t->plan->host_bytes;
}
static uint64_t operations(const struct plan_totals *t) {
  return t->all.ops;
}
static uint64_t flops(const struct plan_totals *t) {
  return t->all.flops;
}

static const struct measure measures[] = {
    {"elements", "elements", false, elements},
    {"streams each way", "loaded_bytes", true, streams},
    {"states on the device", "resident_bytes", true, resident},
    {"arena", "arena_bytes", true, arena_size},
    {"host slab", "host_bytes", true, host},
    {"operations", "operations", false, operations},
    {"FLOPs", "flops", false, flops},
};
enum { N_MEASURES = sizeof measures / sizeof *measures };

struct extreme {
  uint64_t least, most;
  uint32_t least_rank, most_rank;
};

static void extremes(struct arena *a, const struct rt_plan *const *plan, uint32_t n,
                     struct extreme e[N_MEASURES]) {
  for (uint32_t r = 0; r < n; r++) {
    struct arena_mark mark = arena_mark(a);
    const struct plan_totals *t = plan_total(a, plan[r]);
    for (uint32_t m = 0; m < N_MEASURES; m++) {
      uint64_t x = measures[m].of(t);
      if (r == 0 || x < e[m].least) {
        e[m].least = x;
        e[m].least_rank = r;
      }
      if (r == 0 || x > e[m].most) {
        e[m].most = x;
        e[m].most_rank = r;
      }
    }
    arena_rewind(a, mark);
  }
}

// The first rank whose part of what all must agree on is not rank 0's; `n`: all agree.
static uint32_t disagrees(const struct rt_plan *const *plan, uint32_t n) {
  uint32_t r = 0;
  while (r < n && strcmp(plan[r]->agreed, plan[0]->agreed) == 0) {
    r++;
  }
  return r;
}

static struct str amount(struct arena *a, const struct measure *m, uint64_t x,
                         uint32_t rank) {
  struct str text = m->bytes ? text_binary(a, (double)x) : text_count(a, (double)x);
  return str_fmt(a, "%s (rank %u)", text.p, rank);
}

struct str plan_ranks_text(struct arena *a, const struct plan_view *v,
                           const struct rt_plan *const *plan, uint32_t n) {
  struct extreme e[N_MEASURES] = {0};
  extremes(a, plan, n, e);
  struct buf b = buf_new(a);
  buf_printf(&b, "%.*s: %u rank%s%s%.*s%s; %u unit%s, %u chunk%s on each\n\n",
             STR_FMT(v->title), n, n == 1 ? "" : "s", v->mesh.n != 0 ? " (" : "",
             STR_FMT(v->mesh), v->mesh.n != 0 ? ")" : "", plan[0]->n_units,
             plan_plural(plan[0]->n_units), plan[0]->n_chunks,
             plan_plural(plan[0]->n_chunks));
  struct table t = {.arena = a, .columns = "lrr"};
  TABLE_ROW(&t, STR("on a rank"), STR("least"), STR("most"));
  for (uint32_t m = 0; m < N_MEASURES; m++) {
    TABLE_ROW(&t, str_of(measures[m].name),
              amount(a, &measures[m], e[m].least, e[m].least_rank),
              amount(a, &measures[m], e[m].most, e[m].most_rank));
  }
  buf_printf(&b, "%s\n", table_text(&t).p);
  uint32_t other = disagrees(plan, n);
  if (other == n) {
    buf_printf(&b, "agreed      by all: %s\n", plan[0]->agreed);
  } else {
    buf_printf(&b, "agreed      NOT: rank %u has %s, rank 0 %s\n", other,
               plan[other]->agreed, plan[0]->agreed);
  }
  buf_printf(&b, "proof       %s", plan_proof_text(a, v->proof).p);
  plan_notes_put(&b, plan, n);
  return buf_done(&b);
}

struct str plan_ranks_json(struct arena *a, const struct plan_view *v,
                           const struct rt_plan *const *plan, uint32_t n) {
  struct extreme e[N_MEASURES] = {0};
  extremes(a, plan, n, e);
  struct buf b = buf_new(a);
  buf_puts(&b, "{\n  \"job\": ");
  buf_json(&b, v->title);
  buf_printf(&b, ", \"ranks\": %u, \"agree\": %s, \"proof_holds\": %s", n,
             disagrees(plan, n) == n ? "true" : "false",
             v->proof->n_faults == 0 ? "true" : "false");
  for (uint32_t m = 0; m < N_MEASURES; m++) {
    buf_printf(&b, ",\n  \"%s\": {\"least\": %llu, \"most\": %llu}", measures[m].json,
               (unsigned long long)e[m].least, (unsigned long long)e[m].most);
  }
  buf_puts(&b, "\n}\n");
  return buf_done(&b);
}
