// What was asked for: defaults, and what makes no sense (DESIGN L5: an option that does not apply is an error).
#include "plan/plan_int.h"

#include <stdlib.h>
#include <string.h>

// "0.6" between 0 and 1.
static bool read_fraction(struct arena *a, struct str s, double *out) {
  const char *text = str_cstr(a, s);
  if (s.n == 0 || strspn(text, "0123456789.") != s.n) {
    return false;
  }
  char *end;
  *out = strtod(text, &end);
  return *end == '\0' && *out >= 0 && *out <= 1;
}

static bool read_offload(struct plan_builder *b) {
  struct str o = b->o.offload;
  b->fraction = 1;
  if (o.n == 0 || str_is(o, "none")) {
    b->o.offload = STR("none");
    b->fraction = 0;
    return true;
  }
  if (str_is(o, "host")) {
    b->fills_device = b->o.gpu_memory != 0;
    return true;
  }
  if (str_starts(o, "host:")) {
    struct str f = {o.p + 5, o.n - 5};
    if (read_fraction(b->arena, f, &b->fraction)) {
      b->o.offload =
          str_fmt(b->arena, "host:%.*s", STR_FMT(num_shortest(b->arena, b->fraction)));
      return true;
    }
  }
  DIAG(b->f->diags, NO_SPAN, E0803, o);
  return false;
}

static bool refuse(struct plan_builder *b, const char *option, const char *why) {
  DIAG(b->f->diags, NO_SPAN, E0804, str_of(option), str_of(why));
  return false;
}

static bool check_applies(struct plan_builder *b) {
  if (!str_is(b->o.offload, "none")) {
    return true;
  }
  const char *why = "without an offload no state leaves the device";
  bool ok = b->o.slots == 0 || refuse(b, "the number of slots", why);
  ok = (b->o.host_memory == 0 || refuse(b, "the budget of host memory", why)) && ok;
  return (b->o.chunk_bytes == 0 || b->o.overlap ||
          refuse(b, "the chunk size",
                 "without an offload and without overlap the step is one chunk")) &&
         ok;
}

// What a serial step is measured for: nothing of it overlaps, so that nothing is left to choose.
static bool check_serial(struct plan_builder *b) {
  const char *why = "a serial step is one chunk in one slot";
  bool ok = !str_is(b->o.offload, "none") ||
            refuse(b, "a serial step", "without an offload nothing streams");
  ok = (b->o.slots == 0 || refuse(b, "the number of slots", why)) && ok;
  ok = (b->o.chunk_bytes == 0 || refuse(b, "the chunk size", why)) && ok;
  ok = (!b->o.overlap || refuse(b, "overlap", why)) && ok;
  ok = (b->o.gpu_memory == 0 || refuse(b, "the budget of device memory", why)) && ok;
  b->o.slots = 1;
  return ok;
}

static bool check_slots(struct plan_builder *b) {
  b->o.slots = b->o.slots == 0 ? PLAN_SLOTS : b->o.slots;
  if (b->o.slots < PLAN_MIN_SLOTS) {
    DIAG(b->f->diags, NO_SPAN, E0802, str_fmt(b->arena, "%u", b->o.slots));
    return false;
  }
  return !plan_too_large(b, PLAN_MAX_SLOTS, "slots", b->o.slots);
}

static bool check_rank(struct plan_builder *b) {
  if (plan_too_large(b, PLAN_MAX_RANKS, "ranks", b->model->world)) {
    return false;
  }
  if (b->o.rank < b->model->world) {
    return true;
  }
  DIAG(b->f->diags, NO_SPAN, E0805, str_fmt(b->arena, "%u", b->o.rank),
       str_fmt(b->arena, "%llu", (unsigned long long)b->model->world));
  return false;
}

static bool find_target(struct plan_builder *b) {
  static const struct plan_target known[] = {
#define TARGET(name, matrices, bytes, parts) {name, matrices, bytes, parts, false},
#include "plan/targets.def"
#undef TARGET
  };
  const char *target = b->program->target;
  size_t n = strcspn(target, ":");
  for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
    if (strlen(known[i].name) == n && strncmp(target, known[i].name, n) == 0) {
      b->target = known[i];
      b->target.on_gpu = strcmp(known[i].name, "cuda") == 0;
      return true;
    }
  }
  *b->ice = str_fmt(b->arena, "no plan for target `%s`", target);
  return false;
}

// What plan.json can hold.
static bool check_sizes(struct plan_builder *b) {
  const uint64_t most = UINT64_C(1) << 53;
  bool bad = plan_too_large(b, most, "bytes in a chunk", b->o.chunk_bytes);
  bad = plan_too_large(b, most, "bytes as a budget of device memory", b->o.gpu_memory) ||
        bad;
  return !(
      plan_too_large(b, most, "bytes as a budget of host memory", b->o.host_memory) ||
      bad);
}

bool plan_options_check(struct plan_builder *b) {
  if (!find_target(b) || !check_sizes(b)) {
    return false;
  }
  bool ok = check_rank(b);
  ok = read_offload(b) && check_applies(b) && ok;
  return (b->o.serial ? check_serial(b) : check_slots(b)) && ok;
}
