// A hash that tells equal bits from others, at the speed of memory: pieces by all threads, added up by their place.
#include "tool/bench.h"
#include "tool/session_data.h"

#include <stdlib.h>
#include <string.h>

enum { PIECE = 1 << 20 }; // bytes

struct hasher {
  struct rt_team *team;
  uint64_t *sum; // by thread
  const unsigned char *at;
  uint64_t bytes, hash;
};

// The finalizer of SplitMix64 (Steele, Lea, Flood 2014): a bijection whose output bits look independent.
static uint64_t mix(uint64_t z) {
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

static void hash_piece(void *ctx, uint64_t item, uint32_t thread) {
  struct hasher *h = ctx;
  uint64_t begin = item * PIECE;
  uint64_t end = h->bytes - begin < PIECE ? h->bytes : begin + PIECE;
  uint64_t x = mix(item + 0x9e3779b97f4a7c15u);
  for (uint64_t at = begin; at < end; at += 8) {
    uint64_t word = 0;
    memcpy(&word, h->at + at, end - at < 8 ? end - at : 8);
    x = (x ^ word) * 0x9e3779b97f4a7c15u;
    x ^= x >> 29;
  }
  h->sum[thread] += mix(x);
}

static void hash_bytes(void *ctx, const void *at, uint64_t bytes) {
  struct hasher *h = ctx;
  uint64_t sum = bytes;
  memset(h->sum, 0, rt_team_size(h->team) * sizeof *h->sum);
  h->at = at;
  h->bytes = bytes;
  rt_team_run(h->team, bytes / PIECE + (bytes % PIECE != 0), hash_piece, h);
  for (uint32_t i = 0; i < rt_team_size(h->team); i++) {
    sum += h->sum[i];
  }
  h->hash = mix(h->hash + 0x9e3779b97f4a7c15u) ^ mix(sum);
}

// What a parameter keeps between steps. `room` holds the largest state.
static steprt_status hash_states(struct session *s, uint32_t param, void *room,
                                 struct hasher *h) {
  const struct rt_plan *plan = s->program->plan;
  const struct rt_plan_param *p = &plan->param[param];
  uint64_t count = steprt_count(s->rt, param);
  hash_bytes(h, &count, sizeof count);
  for (uint32_t i = p->first_state; i < p->first_state + p->n_states; i++) {
    const struct rt_state_home *home = &plan->state[i];
    const void *at = steprt_state(s->rt, param, home->name, NULL);
    if (at == NULL && home->bytes != 0) {
      steprt_status status =
          steprt_state_get(s->rt, param, home->name, room, home->bytes);
      if (status != STEPRT_OK) {
        return status;
      }
      at = room;
    }
    hash_bytes(h, at, home->bytes);
  }
  const struct rt_param *q = &s->program->param[param];
  for (uint32_t k = 0; k < s->program->rule[q->rule].n_host_states; k++) {
    double value = steprt_host_state(s->rt, param, k);
    hash_bytes(h, &value, sizeof value);
  }
  return STEPRT_OK;
}

static steprt_status hash_all_states(struct session *s, void *room, struct hasher *h) {
  steprt_status status = STEPRT_OK;
  for (uint32_t i = 0; i < s->program->n_params && status == STEPRT_OK; i++) {
    if (s->program->param[i].active) {
      status = hash_states(s, i, room, h);
    }
  }
  return status;
}

enum exit_code bench_hash(struct session *s, uint64_t *out) {
  const struct rt_plan *plan = s->program->plan;
  struct hasher h = {.team = s->team};
  uint64_t most = 1;
  for (uint32_t i = 0; i < plan->n_states; i++) {
    most = plan->state[i].bytes > most ? plan->state[i].bytes : most;
  }
  h.sum = ARENA_ARRAY(s->tool->arena, uint64_t, rt_team_size(s->team));
  void *room = malloc(most);
  if (room == NULL) {
    say(s->tool, "out of memory");
    return EXIT_ENVIRONMENT;
  }
  enum exit_code code = session_read_params(s, hash_bytes, &h);
  if (code == EXIT_OK) {
    code = session_failed(s, hash_all_states(s, room, &h));
  }
  free(room);
  *out = h.hash;
  return code;
}
