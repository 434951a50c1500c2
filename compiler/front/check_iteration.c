// What the grammar cannot say about an iteration: each line once, the required ones, and counts that fit.
#include "front/parse.h"

enum { MAX_STEPS = 1000 }; // DESIGN section 16

static struct str int_text(struct parser *p, uint64_t n) {
  return str_fmt(p->f->arena, "%llu", (unsigned long long)n);
}

static void check_once(struct parser *p, const struct iteration *it) {
  for (uint32_t i = 0; i < it->n_lines; i++) {
    uint32_t first = 0;
    while (!str_eq(it->line[first].word, it->line[i].word)) {
      first++;
    }
    if (first != i && !str_is(it->line[i].word, "iter")) {
      struct diag *d =
          DIAG(p->f->diags, it->line[i].span, E0401, it->line[i].word, it->name);
      diag_note(p->f->diags, d, it->line[first].span, STR("the first one is here"));
    }
  }
}

static void check_required(struct parser *p, const struct iteration *it) {
  const struct str required[] = {STR("normalize"), STR("compute"), STR("iter")};
  for (uint32_t k = 0; k < 3; k++) {
    bool found = false;
    for (uint32_t i = 0; i < it->n_lines; i++) {
      found = found || str_eq(it->line[i].word, required[k]);
    }
    if (!found) {
      DIAG(p->f->diags, it->name_span, E0402, it->name, required[k]);
    }
  }
}

static struct span line_span(const struct iteration *it, const char *word) {
  for (uint32_t i = 0; i < it->n_lines; i++) {
    if (str_is(it->line[i].word, word)) {
      return it->line[i].span;
    }
  }
  return it->name_span;
}

// A count of 0, or a total past the limit; sums saturate at it.
static uint64_t check_counts(struct parser *p, const struct iteration *it) {
  uint64_t listed = 0;
  for (uint32_t i = 0; i < it->n_iters; i++) {
    if (it->iter[i].repeat == 0) {
      DIAG(p->f->diags, it->iter[i].span, E0407, STR("repeat"));
    }
    listed += it->iter[i].repeat < MAX_STEPS ? it->iter[i].repeat : MAX_STEPS + 1;
    listed = listed <= MAX_STEPS ? listed : MAX_STEPS + 1;
  }
  if (it->has_steps && it->steps == 0) {
    DIAG(p->f->diags, line_span(it, "steps"), E0407, STR("steps"));
  }
  return listed;
}

static void check_steps(struct parser *p, const struct iteration *it) {
  uint64_t listed = check_counts(p, it);
  uint64_t steps = it->has_steps ? it->steps : listed;
  struct span at = it->has_steps ? line_span(it, "steps") : it->name_span;
  if (steps > MAX_STEPS || listed > MAX_STEPS) {
    DIAG(p->f->diags, at, E0404, it->name, int_text(p, MAX_STEPS));
  } else if (steps > listed && it->tail == TAIL_STOP && listed > 0) {
    struct diag *d =
        DIAG(p->f->diags, at, E0403, int_text(p, steps), int_text(p, listed));
    diag_help(p->f->diags, d,
              STR("add `tail repeat` (the last line again) or `tail cycle`"));
  }
  for (uint32_t i = 0; i < it->n_restarts; i++) {
    uint64_t before = i == 0 ? 0 : it->restart[i - 1];
    if (it->restart[i] <= before || (it->restart[i] >= steps && steps > 0)) {
      DIAG(p->f->diags, line_span(it, "form"), E0408, int_text(p, it->restart[i]),
           int_text(p, steps));
      return;
    }
  }
}

static void check_normalize(struct parser *p, const struct iteration *it) {
  struct span at = line_span(it, "normalize");
  if (it->norm_in.n != 0 && !str_is(it->norm_in, "f32")) {
    DIAG(p->f->diags, it->norm_in_span, E0406, it->norm_in);
  }
  if (it->has_safety && it->safety <= 0) {
    DIAG(p->f->diags, at, E0409, STR("safety"), STR("above 0"));
  }
  if (it->eps < 0 || it->floor < 0) {
    DIAG(p->f->diags, at, E0409, it->has_eps ? STR("eps") : STR("floor"),
         STR("at least 0"));
  }
  if (it->norm == NORM_AOL && (it->has_safety || it->has_eps)) {
    DIAG(p->f->diags, at, E0410, it->has_safety ? STR("safety") : STR("eps"));
  }
}

void parse_check_iteration(struct parser *p, struct iteration *it) {
  if (it->is_poison) {
    return; // a line is broken: what is missing may stand in it
  }
  check_once(p, it);
  check_required(p, it);
  check_steps(p, it);
  check_normalize(p, it);
}
