// Cuts a list into blocks and segments, and sorts blocks into classes whose clocks are the same.
#include "plan/prove_int.h"

#include <string.h>

// ---- segments

static uint64_t slot_mask(const struct prover *p, const struct access *a) {
  if (a->space == RT_AT_STEP) {
    return 1;
  }
  uint64_t slot = p->plan->slot_bytes, mask = 0;
  uint64_t end = slot * p->plan->n_slots;
  for (uint64_t at = a->lo; at < a->hi && at < end; at = (at / slot + 1) * slot) {
    mask |= (uint64_t)4 << at / slot % 62;
  }
  return a->hi > end ? mask | 2 : mask;
}

static void add_masks(struct prover *p, struct segment *s, uint32_t op) {
  for (uint32_t i = p->access_of[op]; i < p->access_of[op + 1]; i++) {
    const struct access *a = &p->access.v[i];
    if (a->space == RT_AT_ARENA || a->space == RT_AT_STEP) {
      uint64_t mask = slot_mask(p, a);
      s->reads |= a->write ? 0 : mask;
      s->writes |= a->write ? mask : 0;
    }
  }
}

static void add_segment(struct prover *p, struct block *b, uint32_t op,
                        uint32_t place[RT_N_LANES]) {
  const struct rt_op *o = &p->op[op];
  struct segment s = {.lane = o->lane,
                      .place = place[o->lane]++,
                      .first = op,
                      .wait = o->n_waits == 0 ? NULL : &p->plan->wait[o->first_wait],
                      .n_waits = o->n_waits,
                      .signal = RT_NO_ID};
  VEC_PUSH(p->arena, p->segment, s);
  b->n_segments++;
}

// Operations follow one another in a segment while nothing is signalled by the one or waited for by the next.
static void cut_segments(struct prover *p, uint32_t block) {
  struct block *b = &p->block.v[block];
  uint32_t place[RT_N_LANES] = {0};
  b->first_segment = p->segment.n;
  for (uint32_t i = b->first; i < b->first + b->n; i++) {
    const struct segment *last =
        b->n_segments == 0 ? NULL : &p->segment.v[p->segment.n - 1];
    if (last == NULL || last->lane != p->op[i].lane || last->signal != RT_NO_ID ||
        p->op[i].n_waits != 0) {
      add_segment(p, b, i, place);
    }
    struct segment *s = &p->segment.v[p->segment.n - 1];
    s->n++;
    s->signal = p->op[i].signal;
    add_masks(p, s, i);
    p->block_of[i] = block;
    p->segment_of[i] = p->segment.n - 1;
  }
}

// ---- blocks

static bool begins_block(const struct prover *p, uint32_t op) {
  const struct rt_op *before = &p->op[op - 1];
  return before->chunk != p->op[op].chunk || (p->is_init && before->kind == RT_OP_STORE);
}

static void cut_blocks(struct prover *p) {
  for (uint32_t i = 0; i < p->n_ops; i++) {
    if (i == 0 || begins_block(p, i)) {
      struct block b = {.first = i, .chunk = p->op[i].chunk, .next = RT_NO_ID};
      VEC_PUSH(p->arena, p->block, b);
    }
    p->block.v[p->block.n - 1].n++;
  }
  for (uint32_t i = 0; i < p->block.n; i++) {
    cut_segments(p, i);
  }
}

// ---- classes

static bool alike(const struct prover *p, const struct block *a, const struct block *b) {
  if (a->n_segments != b->n_segments) {
    return false;
  }
  for (uint32_t i = 0; i < a->n_segments; i++) {
    const struct segment *s = &p->segment.v[a->first_segment + i],
                         *t = &p->segment.v[b->first_segment + i];
    if (s->lane != t->lane || s->signal != t->signal || s->n_waits != t->n_waits ||
        s->reads != t->reads || s->writes != t->writes ||
        (s->n_waits != 0 &&
         memcmp(s->wait, t->wait, s->n_waits * sizeof *s->wait) != 0)) {
      return false;
    }
  }
  return true;
}

static uint64_t mix(uint64_t h, uint64_t x) { // FNV-1a's step, a word at a time
  return (h ^ x) * 0x100000001b3u;
}

static uint64_t hash_of(const struct prover *p, const struct block *b) {
  uint64_t h = 0xcbf29ce484222325u;
  for (uint32_t i = 0; i < b->n_segments; i++) {
    const struct segment *s = &p->segment.v[b->first_segment + i];
    h = mix(mix(mix(mix(h, s->lane), s->signal), s->reads), s->writes);
    for (uint32_t k = 0; k < s->n_waits; k++) {
      h = mix(h, s->wait[k]);
    }
  }
  return h ^ h >> 32;
}

static void enter(struct prover *p, uint32_t block, uint32_t *slot) {
  struct block *b = &p->block.v[block];
  if (*slot == 0) {
    struct class c = {.first = block, .last = block};
    VEC_PUSH(p->arena, p->class, c);
    *slot = p->class.n;
  }
  struct class *c = &p->class.v[*slot - 1];
  b->class = *slot - 1;
  if (c->n++ > 0) {
    p->block.v[c->last].next = block;
    c->last = block;
  }
}

static void sort_classes(struct prover *p) {
  uint32_t size = 16;
  while (size < 2 * p->block.n) {
    size *= 2;
  }
  uint32_t *table = ARENA_ARRAY(p->arena, uint32_t, size); // 1 + class
  for (uint32_t i = 0; i < p->block.n; i++) {
    uint64_t at = hash_of(p, &p->block.v[i]) % size;
    while (table[at] != 0 &&
           !alike(p, &p->block.v[p->class.v[table[at] - 1].first], &p->block.v[i])) {
      at = (at + 1) % size;
    }
    enter(p, i, &table[at]);
  }
}

void prove_blocks(struct prover *p) {
  p->block_of = ARENA_ARRAY(p->arena, uint32_t, p->n_ops);
  p->segment_of = ARENA_ARRAY(p->arena, uint32_t, p->n_ops);
  cut_blocks(p);
  sort_classes(p);
}
