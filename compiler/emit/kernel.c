// Slots, keys and names of kernels.
//
// The key is the phase as text with values renumbered and tensors and scalars replaced by their slot: what the
// machine code depends on and nothing else. Names of states and shapes are not in it.
#include "emit/kernel.h"

struct str kernel_safe_name(struct arena *a, struct str name) {
  struct buf b = buf_new(a);
  for (size_t i = 0; i < name.n; i++) {
    unsigned char c = (unsigned char)name.p[i];
    bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
                 (c >= '0' && c <= '9' && i > 0);
    if (plain) {
      buf_char(&b, (char)c);
    } else {
      buf_printf(&b, "x%02x", c);
    }
  }
  return b.n != 0 ? buf_done(&b) : STR("unnamed");
}

struct slots {
  struct arena *arena;
  VEC(struct kernel_slot) list;
};

static uint32_t find_tensor(const struct kernel_slot *slot, uint32_t n,
                            const struct kernel_slot *tensor) {
  for (uint32_t i = 0; i < n; i++) {
    if (slot[i].kind == tensor->kind && slot[i].index == tensor->index) {
      return i;
    }
  }
  return UINT32_MAX;
}

// Adds a tensor or, to one that is there, its uses; returns its slot.
static uint32_t add_tensor(struct slots *s, const struct kernel_slot *tensor) {
  for (uint32_t i = 0; i < s->list.n; i++) {
    struct kernel_slot *slot = &s->list.v[i];
    if (slot->kind == tensor->kind && slot->index == tensor->index) {
      slot->read |= tensor->read;
      slot->written |= tensor->written;
      return i;
    }
  }
  VEC_PUSH(s->arena, s->list, *tensor);
  return s->list.n - 1;
}

// The tensor that a load or store names; false for other instructions.
static bool tensor_of(const struct ir *ir, const struct ir_ins *ins,
                      struct kernel_slot *out) {
  bool load = ins->op == IR_PARAM || ins->op == IR_GRAD || ins->op == IR_STATE;
  bool store = ins->op == IR_SET_PARAM || ins->op == IR_SET_STATE;
  if (!load && !store) {
    return false;
  }
  bool state = ins->op == IR_STATE || ins->op == IR_SET_STATE;
  *out = (struct kernel_slot){.kind = state                ? SLOT_STATE
                                      : ins->op == IR_GRAD ? SLOT_GRAD
                                                           : SLOT_PARAM,
                              .index = state ? ins->index : 0,
                              .storage = ins->storage,
                              .read = load,
                              .written = store};
  out->name = state                ? ir->state[ins->index].name
              : ins->op == IR_GRAD ? STR("grad")
                                   : STR("param");
  return true;
}

// The tensor that a temp rests in: its own, or where it was stored.
static struct kernel_slot temp_tensor(const struct phases *p, uint32_t temp) {
  const struct phase_temp *t = &p->temp[temp];
  struct kernel_slot slot = {.kind = SLOT_TEMP,
                             .index = temp,
                             .storage = t->storage,
                             .name = ir_at(p->ir, t->value)->name};
  if (!ir_is_none(t->home)) {
    (void)tensor_of(p->ir, ir_at(p->ir, t->home), &slot);
  }
  slot.read = slot.written = false;
  return slot;
}

// Reads first, in the order of the phase; then what is only written.
static struct slots collect_slots(const struct kernels *k, const struct phases *p,
                                  uint32_t phase, uint64_t numel) {
  const struct phase *ph = &p->phase[phase];
  struct slots s = {.arena = k->arena};
  for (uint32_t i = 0; i < ph->n_temp_in; i++) {
    struct kernel_slot tensor = temp_tensor(p, ph->temp_in[i]);
    tensor.read = true;
    (void)add_tensor(&s, &tensor);
  }
  for (uint32_t i = 0; i < ph->n_ins; i++) {
    struct kernel_slot tensor;
    if (tensor_of(p->ir, ir_at(p->ir, ph->ins[i]), &tensor)) {
      (void)add_tensor(&s, &tensor);
    }
  }
  for (uint32_t i = 0; i < ph->n_temp_out; i++) {
    struct kernel_slot tensor = temp_tensor(p, ph->temp_out[i]);
    tensor.written = true;
    tensor.streams = k->stream_numel != 0 && numel >= k->stream_numel;
    (void)add_tensor(&s, &tensor);
  }
  return s;
}

uint32_t kernel_slot_of(const struct kernel_slot *slot, uint32_t n_slots,
                        const struct phases *p, const struct phase *ph, struct ir_ref r) {
  for (uint32_t i = 0; i < ph->n_temp_in; i++) {
    if (p->temp[ph->temp_in[i]].value.i == r.i) {
      struct kernel_slot tensor = temp_tensor(p, ph->temp_in[i]);
      return find_tensor(slot, n_slots, &tensor);
    }
  }
  struct kernel_slot tensor;
  return tensor_of(p->ir, ir_at(p->ir, r), &tensor) ? find_tensor(slot, n_slots, &tensor)
                                                    : UINT32_MAX;
}

struct key_writer {
  struct buf text;
  const struct phases *p;
  const struct phase *ph;
  const struct slots *slots;
  uint32_t *number; // by IR index: 1 + what stands for it in the key
};

static void key_put_ins(struct key_writer *k, struct ir_ref r, uint32_t number) {
  const struct ir_ins *ins = ir_at(k->p->ir, r);
  k->number[r.i] = number + 1;
  buf_printf(&k->text, "%u=%s", number, ir_op_info(ins->op)->text);
  uint32_t slot = kernel_slot_of(k->slots->list.v, k->slots->list.n, k->p, k->ph, r);
  if (slot != UINT32_MAX) {
    buf_printf(&k->text, " @%u", slot);
  }
  if (ins->op == IR_CONST) {
    buf_printf(&k->text, " %a:%d", ins->num, (int)ins->type);
  }
  if (ins->op == IR_ROUND) {
    buf_printf(&k->text, " %s", storage_name(ins->storage));
  }
  for (uint32_t i = 0; i < ir_op_info(ins->op)->n_args; i++) {
    buf_printf(&k->text, " %u", k->number[ins->arg[i].i] - 1);
  }
  buf_char(&k->text, '\n');
}

static struct str write_key(struct arena *a, const struct phases *p, uint32_t phase,
                            const struct slots *s) {
  struct key_writer k = {.text = buf_new(a), .p = p, .ph = &p->phase[phase], .slots = s};
  k.number = ARENA_ARRAY(a, uint32_t, p->ir->ins.n);
  uint32_t next = 0;
  for (uint32_t i = 0; i < s->list.n; i++) {
    const struct kernel_slot *slot = &s->list.v[i];
    buf_printf(&k.text, "@%u %s%s%s%s\n", i, storage_name(slot->storage),
               slot->read ? " r" : "", slot->written ? " w" : "",
               slot->streams ? " s" : "");
  }
  for (uint32_t i = 0; i < k.ph->n_scalars; i++) {
    struct ir_ref r = k.ph->scalar[i];
    k.number[r.i] = ++next;
    const struct ir_ins *ins = ir_at(p->ir, r);
    buf_printf(&k.text, "%u=scalar %d%s\n", next - 1, (int)ins->type,
               ins->op == IR_CLIP ? " clip" : "");
  }
  for (uint32_t i = 0; i < k.ph->n_temp_in; i++) {
    struct ir_ref r = p->temp[k.ph->temp_in[i]].value;
    k.number[r.i] = ++next;
    buf_printf(&k.text, "%u=temp @%u\n", next - 1,
               kernel_slot_of(s->list.v, s->list.n, p, k.ph, r));
  }
  for (uint32_t i = 0; i < k.ph->n_ins; i++) {
    if (k.number[k.ph->ins[i].i] == 0) {
      key_put_ins(&k, k.ph->ins[i], next++);
    }
  }
  for (uint32_t i = 0; i < k.ph->n_temp_out; i++) {
    struct kernel_slot tensor = temp_tensor(p, k.ph->temp_out[i]);
    buf_printf(&k.text, "@%u = %u\n", find_tensor(s->list.v, s->list.n, &tensor),
               k.number[p->temp[k.ph->temp_out[i]].value.i] - 1);
  }
  return buf_done(&k.text);
}

static bool name_taken(const struct kernels *k, struct str name) {
  for (uint32_t i = 0; i < k->list.n; i++) {
    if (str_eq(k->list.v[i]->name, name)) {
      return true;
    }
  }
  return false;
}

// "muon__p0__f32": rule, map phase, storage of the parameter (and gradient, where it differs); "__stream" where
// outputs go past the caches; "__2" for the second kernel that would have the name.
static struct str choose_name(struct kernels *k, const struct phases *p, uint32_t phase,
                              const struct slots *s) {
  uint32_t ordinal = 0;
  for (uint32_t i = 0; i < phase; i++) {
    ordinal += p->phase[i].kind != PHASE_HOST;
  }
  struct buf b = buf_new(k->arena);
  buf_str(&b, kernel_safe_name(k->arena, p->ir->name));
  buf_printf(&b, "__p%u__%s", ordinal, storage_name(p->ir->dtype));
  if (p->ir->grad != p->ir->dtype) {
    buf_printf(&b, "_%s", storage_name(p->ir->grad));
  }
  for (uint32_t i = 0; i < s->list.n; i++) {
    if (s->list.v[i].streams) {
      buf_puts(&b, "__stream");
      break;
    }
  }
  struct str base = buf_done(&b), name = base;
  for (uint32_t n = 2; name_taken(k, name); n++) {
    name = str_fmt(k->arena, "%.*s__%u", STR_FMT(base), n);
  }
  return name;
}

static void count_bytes(struct kernel *k) {
  for (uint32_t i = 0; i < k->n_slots; i++) {
    uint32_t bytes = storage_bytes(k->slot[i].storage);
    k->bytes_read += k->slot[i].read ? bytes : 0;
    k->bytes_written += k->slot[i].written ? bytes : 0;
  }
}

uint32_t kernel_find(struct kernels *k, const struct phases *p, uint32_t phase,
                     uint64_t numel, struct kernel_slot **slot) {
  struct slots s = collect_slots(k, p, phase, numel);
  struct str key = write_key(k->arena, p, phase, &s);
  *slot = s.list.v;
  for (uint32_t i = 0; i < k->list.n; i++) {
    if (str_eq(k->list.v[i]->key, key)) {
      return i;
    }
  }
  struct kernel *kernel = ARENA_NEW(k->arena, struct kernel);
  *kernel = (struct kernel){.name = choose_name(k, p, phase, &s),
                            .key = key,
                            .phases = p,
                            .phase = phase,
                            .slot = s.list.v,
                            .n_slots = s.list.n,
                            .n_scalars = p->phase[phase].n_scalars};
  count_bytes(kernel);
  VEC_PUSH(k->arena, k->list, kernel);
  return k->list.n - 1;
}
