// What a reader must know and would not guess (DESIGN L5): padding, routing, fallbacks, work done twice.
//
// Alike things are one note with their number and the first name.
#include "plan/plan_int.h"

static void note(struct plan_builder *b, struct str text) {
  VEC_PUSH(b->arena, b->note, str_cstr(b->arena, text));
}

// As it is: whoever shows a note escapes it.
static const char *name_of(struct plan_builder *b, uint32_t param) {
  return str_cstr(b->arena, b->model->param[param].name);
}

// ---- parameters

struct kind_of_note {
  bool (*holds)(const struct plan_builder *b, uint32_t param);
  const char *before; // the first name and how many more
};

static bool is_empty(const struct plan_builder *b, uint32_t param) {
  return shape_numel(&b->model->param[param].shape) == 0;
}

static bool is_elsewhere(const struct plan_builder *b, uint32_t param) {
  return !is_empty(b, param) && b->param[param].numel == 0;
}

static bool is_uneven(const struct plan_builder *b, uint32_t param) {
  const struct model_param *p = &b->model->param[param];
  uint64_t shards = shard_count(b->model, p), numel = shape_numel(&p->shape);
  return shards > 1 && shard_full(b->model, p).numel * shards != numel;
}

static bool is_repeated(const struct plan_builder *b, uint32_t param) {
  return b->ordered.v[b->param[param].unit].is_matrix && b->has_replicas[param];
}

static const struct kind_of_note kinds[] = {
    {is_empty, "no elements, so no states and no work: "},
    {is_elsewhere, "this rank holds nothing of "},
    {is_uneven, "shards of different sizes: "},
    {is_repeated, "every replica orthogonalizes for itself: "},
};

static void note_params(struct plan_builder *b, const struct kind_of_note *k) {
  uint32_t n = 0, first = 0;
  for (uint32_t i = 0; i < b->program->n_params; i++) {
    if (b->program->param[i].active && k->holds(b, i)) {
      first = n++ == 0 ? i : first;
    }
  }
  if (n != 0) {
    struct str more = n > 1 ? str_fmt(b->arena, " and %u more", n - 1) : STR("");
    note(b, str_fmt(b->arena, "%s`%s`%s", k->before, name_of(b, first), more.p));
  }
}

// ---- chunks

static struct str unit_name(struct plan_builder *b, uint32_t unit) {
  const struct unit *u = &b->ordered.v[unit];
  const char *first = name_of(b, b->unit_param[u->first]);
  return u->n == 1
             ? str_fmt(b->arena, "`%s`", first)
             : str_fmt(b->arena, "unit %u (`%s` and %u more)", unit, first, u->n - 1);
}

// The first few by name. The pieces of a unit follow each other.
static void note_cuts(struct plan_builder *b) {
  enum { NAMED = 4 };
  uint32_t n = 0;
  for (uint32_t i = 0; i < b->piece.n;) {
    uint32_t unit = b->piece.v[i].unit, first = i;
    bool is_cut = b->piece.v[i].is_cut;
    while (i < b->piece.n && b->piece.v[i].unit == unit) {
      i++;
    }
    if (is_cut && n++ < NAMED) {
      note(b, str_fmt(b->arena, "%s, with %s of states, is cut into %u chunks",
                      unit_name(b, unit).p,
                      plan_size(b->arena, b->ordered.v[unit].bytes).p, i - first));
    }
  }
  if (n > NAMED) {
    note(b, str_fmt(b->arena, "%u more units are cut", n - NAMED));
  }
}

static void note_oversized(struct plan_builder *b) {
  uint32_t n = 0, first = 0;
  for (uint32_t i = 0; i < b->piece.n; i++) {
    const struct piece *p = &b->piece.v[i];
    const struct unit *u = &b->ordered.v[p->unit];
    if (!p->is_cut && !u->resident && u->bytes > b->o.chunk_bytes) {
      first = n++ == 0 ? p->unit : first;
    }
  }
  if (n != 0) {
    struct str more = n > 1 ? str_fmt(b->arena, ", and %u more", n - 1) : STR("");
    note(b,
         str_fmt(
             b->arena,
             "a chunk alone, larger than the chunk size of %s: %s, with %s of states%s",
             plan_size(b->arena, b->o.chunk_bytes).p, unit_name(b, first).p,
             plan_size(b->arena, b->ordered.v[first].bytes).p, more.p));
  }
}

// ---- options

// Where whole units take more to the host than the share asked for, by more than a hundredth of all.
static void note_share(struct plan_builder *b) {
  uint64_t total = 0, host = 0;
  for (uint32_t i = 0; i < b->unit.n; i++) {
    total += b->unit.v[i].share;
    host += b->unit.v[i].resident ? 0 : b->unit.v[i].share;
  }
  double asked = (double)total * b->fraction;
  if (b->fraction > 0 && (double)host > asked + (double)total / 100) {
    note(b, str_fmt(b->arena,
                    "%s of states rest on the host, more than the %s asked for: a unit "
                    "rests whole here or there",
                    plan_size(b->arena, host).p, plan_size(b->arena, (uint64_t)asked).p));
  }
}

static void note_slots(struct plan_builder *b) {
  if (!str_is(b->o.offload, "none") && b->n_streams == 0) {
    note(b, STR("no state streams: all are resident, or there are none"));
  } else if (b->n_slots < b->o.slots && b->n_slots != 0) {
    note(b, str_fmt(b->arena, "%u of %u slots are set aside: no more chunks stream",
                    b->n_slots, b->o.slots));
  }
  if (b->n_slots != 0 && b->slot_bytes < UINT64_C(1) << 20) {
    note(b, str_fmt(b->arena,
                    "slots of %s: copies below 1 MiB do not reach the speed of a link",
                    plan_size(b->arena, b->slot_bytes).p));
  }
}

static void note_order(struct plan_builder *b) {
  for (uint32_t i = 0; i < b->program->n_params; i++) {
    if (b->o.overlap && b->program->param[i].active && !b->model->param[i].has_order) {
      note(b,
           str_fmt(b->arena, "`%s` and what else has no `order` counts as needed first",
                   name_of(b, i)));
      return;
    }
  }
}

void plan_notes(struct plan_builder *b) {
  for (uint32_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
    note_params(b, &kinds[i]);
  }
  note_cuts(b);
  note_oversized(b);
  note_share(b);
  note_slots(b);
  note_order(b);
}
