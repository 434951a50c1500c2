// What each byte of the arena and of STEP holds, operation by operation, block by block: every read finds the bytes it
// is meant to find, and what must go on does (theorem, 5).
//
// A slot's bytes are loaded from the home of a state and keep that identity (host - arena) while rows change them; a
// STORE takes them back to where they came from. It may store only what the block loaded: rows can be left out, and
// their bytes must rest as they were. Other bytes of the arena are temporaries: read by rows of the parameter that
// wrote them, for the same elements.
#include "plan/prove_int.h"

#include "plan/names.h" // runtime/

struct flow {
  struct prover *p;
  struct cells cells;
  const struct access *a; // under test
  const struct rt_row *row;
  uint64_t width,
      shift; // of the row: bytes per element; where its parameter's element 0 would be
};

static bool fault(const struct flow *f, enum proof_kind kind, const struct cell *c,
                  const char *what) {
  struct prover *p = f->p;
  const struct access *a = f->a;
  uint64_t lo = c->at & ~PROVE_STEP_BIT, hi = c[1].at & ~PROVE_STEP_BIT;
  const char *other = c->op == RT_NO_ID || c->op == a->op ? "" : prove_op_text(p, c->op);
  (void)PROVE_FAULT(p, kind, a->op, c->op, "%s %s %s [%llu, %llu)%s%s, %s%s%s",
                    prove_op_text(p, a->op), a->write ? "writes" : "reads",
                    rt_space_names[a->space], (unsigned long long)lo,
                    (unsigned long long)hi, f->row == NULL ? "" : " for ",
                    f->row == NULL ? "" : prove_param_text(p, f->row->param), what,
                    *other == '\0' ? "" : ": ", other);
  return false;
}

// ---- reads

static bool is_written_elsewhere(const struct flow *f, uint64_t lo, uint64_t hi) {
  const struct prover *p = f->p;
  for (uint32_t i = 0; i < p->access.n; i++) {
    const struct access *a = &p->access.v[i];
    if (a->write && a->space == RT_AT_ARENA && a->lo < hi && lo < a->hi &&
        p->block_of[a->op] != p->block_of[f->a->op]) {
      return true;
    }
  }
  return false;
}

static bool unwritten(const struct flow *f, const struct cell *c) {
  return f->a->space == RT_AT_ARENA && is_written_elsewhere(f, c->at, c[1].at)
             ? fault(f, PROOF_REUSED, c, "which only other chunks write")
             : fault(f, PROOF_UNWRITTEN, c, "which nothing wrote before");
}

static bool is_home(const struct flow *f, const struct cell *c) {
  return c->unit == f->row->unit &&
         prove_is_home(f->p, f->row->param, f->row->first, f->width, RT_AT_HOST,
                       f->a->lo + c->shift);
}

static bool read_by_row(const struct flow *f, const struct cell *c) {
  if (c->op == RT_NO_ID) {
    return unwritten(f, c);
  }
  if (c->is_loaded) {
    return is_home(f, c) || fault(f, PROOF_MISPLACED, c, "where others' states are");
  }
  uint32_t kind = f->p->op[c->op].kind;
  bool is_rows = c->item != RT_NO_ID && (kind == RT_OP_MAP || kind == RT_OP_ORTHO);
  return (is_rows && f->p->plan->row[c->item].param == f->row->param &&
          c->shift == f->shift && c->width == f->width) ||
         fault(f, PROOF_REUSED, c, "which hold something else by then");
}

static bool read_by_store(const struct flow *f, struct cell *c) {
  const struct prover *p = f->p;
  const struct rt_copy *copy = &p->plan->copy[f->a->item];
  uint64_t shift = copy->host - copy->arena;
  if (c->op == RT_NO_ID) {
    return unwritten(f, c);
  }
  bool ok = c->is_loaded && c->shift == shift && c->unit == copy->unit;
  if (!c->is_loaded && p->is_init && c->item != RT_NO_ID) { // all rows run there
    const struct rt_row *row = &p->plan->row[c->item];
    ok = row->unit == copy->unit &&
         prove_is_home(p, row->param, 0, c->width, RT_AT_HOST, c->shift + shift);
  }
  c->is_changed = c->is_changed && !ok;
  return ok || fault(f, PROOF_MISPLACED, c, "which did not come from there");
}

static bool is_left_by_begin(const struct prover *p, const struct cell *c) {
  uint64_t at = c->at;
  for (uint32_t i = 0; i < p->begin.n && at < c[1].at; i++) {
    const struct cell *b = &p->begin.v[i];
    if (b->op != RT_NO_ID && b->at <= at && at < b[1].at) {
      at = b[1].at;
    }
  }
  return at >= c[1].at;
}

static bool read_cell(const struct flow *f, struct cell *c) {
  const struct access *a = f->a;
  bool ok;
  if (a->item != RT_NO_ID && a->space == RT_AT_ARENA) {
    ok = f->row != NULL ? read_by_row(f, c) : read_by_store(f, c);
  } else {
    ok = c->op != RT_NO_ID || is_left_by_begin(f->p, c) || unwritten(f, c);
  }
  c->read_item =
      c->read_op == a->op && (c->read_item != a->item || c->read_shift != f->shift)
          ? PROVE_MANY
          : a->item;
  c->read_op = a->op;
  c->read_shift = f->shift;
  c->is_read = true;
  return ok;
}

// ---- writes

static bool must_be_read(const struct prover *p, const struct cell *c) {
  uint32_t kind = c->op == RT_NO_ID ? RT_N_OP_KINDS : p->op[c->op].kind;
  return kind == RT_OP_REDUCE || kind == RT_OP_MERGE || kind == RT_OP_EXCHANGE;
}

static bool may_write(const struct flow *f, const struct cell *c) {
  const struct access *a = f->a;
  if (c->op == a->op ||
      (c->read_op == a->op && (c->read_item != a->item || c->read_shift != f->shift))) {
    return fault(f, PROOF_UNORDERED, c, "which it touches twice at once");
  }
  if (a->space == RT_AT_STEP) {
    if (f->p->op[a->op].chunk != RT_NO_ID) {
      return fault(f, PROOF_MISPLACED, c, "which begin writes for all chunks");
    }
    return !must_be_read(f->p, c) || c->is_read ||
           fault(f, PROOF_LOST, c, "which hold what nothing has read yet");
  }
  return !c->is_changed || f->row != NULL ||
         fault(f, PROOF_LOST, c, "which hold a state not yet stored");
}

static bool write_cell(const struct flow *f, struct cell *c) {
  const struct access *a = f->a;
  if (!may_write(f, c)) {
    return false;
  }
  bool ok = true;
  if (f->row != NULL && c->is_loaded) {
    ok = is_home(f, c) || fault(f, PROOF_MISPLACED, c, "where others' states are");
    c->is_changed = true;
  } else if (f->row != NULL) {
    uint64_t slots = f->p->plan->slot_bytes * f->p->plan->n_slots;
    c->shift = f->shift;
    c->width = f->width;
    c->is_changed = f->p->is_init && a->lo < slots;
  } else if (a->item != RT_NO_ID) {
    const struct rt_copy *copy = &f->p->plan->copy[a->item];
    c->is_loaded = true;
    c->shift = copy->host - copy->arena;
    c->unit = copy->unit;
  } else { // a workspace
    c->is_loaded = false;
  }
  c->op = a->op;
  c->item = a->item;
  c->is_read = false;
  return ok;
}

// ---- blocks

// One fault per access: its other cells are no news.
static void walk(struct flow *f, const struct access *a) {
  uint64_t end = prove_cell_at(a, a->hi);
  f->a = a;
  f->row = prove_row(f->p, a);
  f->width = f->row == NULL ? 0 : prove_width(f->row, a);
  f->shift = f->row == NULL ? 0 : a->lo - f->row->first * f->width;
  for (struct cell *c = prove_cell(&f->cells, a); c->at < end; c++) {
    if (a->write ? !write_cell(f, c) : !read_cell(f, c)) {
      return;
    }
  }
}

static void run_op(struct flow *f, uint32_t op) {
  const struct prover *p = f->p;
  for (int write = 0; write < 2; write++) {
    for (uint32_t i = p->access_of[op]; i < p->access_of[op + 1]; i++) {
      const struct access *a = &p->access.v[i];
      if (prove_in_cells(a) && a->write == (write == 1) && !prove_full(p->proof)) {
        walk(f, a);
      }
    }
  }
}

static void test_end(struct flow *f) {
  struct prover *p = f->p;
  for (uint32_t i = 0; i < f->cells.n && !prove_full(p->proof); i++) {
    const struct cell *c = &f->cells.v[i];
    bool is_step = (c->at & PROVE_STEP_BIT) != 0;
    if (c->is_changed || (is_step && must_be_read(p, c) && !c->is_read)) {
      (void)PROVE_FAULT(
          p, PROOF_LOST, c->op, RT_NO_ID, "%s writes %s [%llu, %llu), which nothing %s",
          prove_op_text(p, c->op), is_step ? "step" : "arena",
          (unsigned long long)(c->at & ~PROVE_STEP_BIT),
          (unsigned long long)(c[1].at & ~PROVE_STEP_BIT), is_step ? "reads" : "stores");
    }
  }
}

void prove_flow(struct prover *p) {
  for (uint32_t i = 0; i < p->block.n && !prove_full(p->proof); i++) {
    const struct block *b = &p->block.v[i];
    struct arena_mark mark = arena_mark(p->arena);
    struct flow f = {.p = p, .cells = prove_cells(p, b)};
    for (uint32_t op = b->first; op < b->first + b->n; op++) {
      run_op(&f, op);
    }
    test_end(&f);
    if (b->chunk == RT_NO_ID && !p->is_init) {
      p->begin = f.cells;
    } else {
      arena_rewind(p->arena, mark);
    }
  }
}
