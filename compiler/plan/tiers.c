// What is resident, what streams, and whether it fits (DESIGN section 7).
//
// `none`: everything stays on the device. `host`: everything streams, but for what a given budget of device memory
// holds beside the arena. `host:F`: whole units are resident, in order, as long as their bytes stay within the share
// 1 - F. Units without device states have nothing to stream. Which units are resident follows from rank-invariant
// sizes, so that all ranks choose alike; the budgets are then held against what this rank really needs.
#include "plan/plan_int.h"

static void set_chunk_bytes(struct plan_builder *b) {
  uint64_t bytes = 0;
  for (uint32_t i = 0; i < b->unit.n; i++) {
    bytes += b->unit.v[i].resident ? 0 : b->unit.v[i].share;
  }
  uint64_t all = bytes, least = UINT64_C(64) << 20, most = UINT64_C(1) << 30;
  bytes = bytes / 64 < least ? least : bytes / 64 > most ? most : bytes / 64;
  b->o.chunk_bytes = b->o.serial                 ? all
                     : b->asked_chunk_bytes != 0 ? b->asked_chunk_bytes
                                                 : bytes;
}

// Marks units resident in order, up to `allowed` bytes of them; under overlap without gaps.
static void mark(struct plan_builder *b, uint64_t allowed, bool by_room) {
  uint64_t used = 0;
  bool is_full = false;
  for (uint32_t i = 0; i < b->unit.n; i++) {
    struct unit *u = &b->unit.v[i];
    uint64_t bytes = by_room ? u->room : u->share;
    u->resident = bytes == 0 || (!is_full && bytes <= allowed - used);
    used += u->resident ? bytes : 0;
    is_full = is_full || (b->o.overlap && !u->resident);
  }
}

static bool arrange(struct plan_builder *b) {
  set_chunk_bytes(b);
  plan_order(b);
  plan_chunks(b);
  return !plan_too_large(b, PLAN_MAX_CHUNKS, "chunks", b->chunk.n);
}

static uint64_t work_bound(const struct plan_builder *b) {
  uint64_t *n = ARENA_ARRAY(b->arena, uint64_t, b->form.n), most = 0;
  for (uint32_t i = 0; i < b->unit.n; i++) {
    n[b->unit.v[i].form] += b->unit.v[i].matrices;
  }
  for (uint32_t i = 0; i < b->form.n; i++) {
    const struct form *f = &b->form.v[i];
    uint64_t bytes = batch_bytes(b, f->rule, n[i] < f->batch ? n[i] : f->batch);
    most = n[i] != 0 && bytes > most ? bytes : most;
  }
  return most;
}

// What no rank's arena passes: slots as large as the largest chunk, and the largest sub-batch.
static uint64_t arena_bound(const struct plan_builder *b) {
  uint64_t slot = 0, n = 0;
  for (uint32_t c = 0; c < b->chunk.n; c++) {
    uint64_t room = 0;
    for (uint32_t i = 0; i < b->chunk.v[c].n; i++) {
      room += piece_room(b, &b->piece.v[b->chunk.v[c].first + i]);
    }
    slot = b->chunk.v[c].streams && room > slot ? room : slot;
    n += b->chunk.v[c].streams;
  }
  n = n < b->o.slots ? n : b->o.slots;
  return n * slot + work_bound(b) + plan_step_bytes(b);
}

static uint64_t device_bound(const struct plan_builder *b) {
  uint64_t used = 0;
  for (uint32_t i = 0; i < b->unit.n; i++) {
    used += b->unit.v[i].resident ? b->unit.v[i].room : 0;
  }
  return used + arena_bound(b);
}

// Lowers the allowance until what it leaves resident and the arena fit together: by what is too much, and by half once
// that has not led there, for a smaller allowance may need more room for slots.
static bool fill_device(struct plan_builder *b) {
  enum { DIRECT_TRIES = 32 };
  uint64_t allowed = b->o.gpu_memory;
  for (int tries = 0;; tries++) {
    mark(b, allowed, true);
    if (!arrange(b)) {
      return false;
    }
    uint64_t need = device_bound(b);
    if (need <= b->o.gpu_memory || allowed == 0) {
      return true;
    }
    uint64_t over = need - b->o.gpu_memory;
    allowed = tries < DIRECT_TRIES && over < allowed ? allowed - over : allowed / 2;
  }
}

bool plan_tiers(struct plan_builder *b) {
  uint64_t total = 0;
  b->asked_chunk_bytes = b->o.chunk_bytes;
  for (uint32_t i = 0; i < b->unit.n; i++) {
    total += b->unit.v[i].share;
  }
  if (b->fills_device) {
    return fill_device(b);
  }
  // The largest share that keeps F on the host; exact at both ends.
  double kept = (double)total * (1 - b->fraction);
  mark(b, b->fraction == 0 ? UINT64_MAX : (uint64_t)kept, false);
  return arrange(b);
}

// ---- budgets

static uint64_t to_kib(uint64_t bytes) {
  return ceil_div(bytes, 1024);
}

// The smallest budget of device memory that works, in KiB, where `need` bytes do: what streams less may need less, for
// resident states take no slots. Rearranges the plan, which has failed.
static uint64_t least_device(struct plan_builder *b, uint64_t need) {
  uint64_t fails = b->o.gpu_memory / 1024, works = to_kib(need);
  while (b->fills_device && works - fails > 1) {
    uint64_t kib = fails + (works - fails) / 2;
    b->o.gpu_memory = kib * 1024;
    bool fits = fill_device(b) && device_bound(b) <= b->o.gpu_memory;
    *(fits ? &works : &fails) = kib;
  }
  return works;
}

// `least`: KiB that would do.
static bool too_small(struct plan_builder *b, const char *what, uint64_t budget,
                      uint64_t need, const char *parts, uint64_t least) {
  struct arena *a = b->arena;
  struct diag *d = DIAG(b->f->diags, NO_SPAN, E0806, str_of(what), plan_size(a, budget),
                        plan_size(a, need), plan_size(a, need - budget));
  diag_note(b->f->diags, d, NO_SPAN, str_of(parts));
  diag_help(b->f->diags, d,
            str_fmt(a, "with these options %lluK is the smallest that works",
                    (unsigned long long)least));
  return false;
}

static bool check_gpu(struct plan_builder *b) {
  uint64_t step = plan_step_bytes(b), arena = plan_slots_bytes(b) + b->work_bytes;
  uint64_t need = b->state_bytes + arena + step;
  if (b->o.gpu_memory == 0 || need <= b->o.gpu_memory) {
    return true;
  }
  struct arena *a = b->arena;
  struct str parts = str_fmt(
      a, "%s of resident states, %u slot%s of %s, %s for temporaries and %s of sums",
      plan_size(a, b->state_bytes).p, b->n_slots, b->n_slots == 1 ? "" : "s",
      plan_size(a, b->slot_bytes).p, plan_size(a, b->work_bytes).p, plan_size(a, step).p);
  uint64_t budget = b->o.gpu_memory, least = least_device(b, need);
  if (least < to_kib(need)) {
    parts =
        str_fmt(a, "resident states take no slots; were all to stream, it would be %s",
                plan_size(a, need).p);
    need = least * 1024;
  }
  return too_small(b, "device", budget, need, parts.p, least);
}

static bool check_host(struct plan_builder *b) {
  if (b->o.host_memory == 0 || b->host_bytes <= b->o.host_memory) {
    return true;
  }
  return too_small(b, "host", b->o.host_memory, b->host_bytes,
                   "the slab holds the states that stream", to_kib(b->host_bytes));
}

bool plan_budgets(struct plan_builder *b) {
  bool ok = check_gpu(b);
  return check_host(b) && ok;
}
