// Digests and comparisons of tensors: little-endian bytes, all NaNs one value.
#include "tool/tensors.h"

#include "file/sha256.h"

#include <stdlib.h>
#include <string.h>

enum { PIECE = 4096 }; // elements that are made canonical at once

static void canonical_f32(const uint32_t *x, uint64_t n, uint32_t *out) {
  for (uint64_t i = 0; i < n; i++) {
    out[i] = (x[i] & 0x7fffffffu) > 0x7f800000u ? 0x7fc00000u : x[i];
  }
}

static void canonical_16(const uint16_t *x, uint64_t n, uint32_t inf, uint32_t nan,
                         uint16_t *out) {
  for (uint64_t i = 0; i < n; i++) {
    out[i] = (uint16_t)((x[i] & 0x7fffu) > inf ? nan : x[i]);
  }
}

// `n` elements from `at` with their NaNs made equal. The 8-bit formats have no such freedom here.
static void canonical(const struct tensor *t, uint64_t at, uint64_t n, void *out) {
  switch (t->storage) {
  case ST_F32: canonical_f32((const uint32_t *)t->data + at, n, out); return;
  case ST_BF16:
    canonical_16((const uint16_t *)t->data + at, n, 0x7f80u, 0x7fc0u, out);
    return;
  case ST_F16:
    canonical_16((const uint16_t *)t->data + at, n, 0x7c00u, 0x7e00u, out);
    return;
  case ST_F8E4M3:
  case ST_F8E5M2:
  case ST_Q8:
  case ST_Q8U: memcpy(out, (const char *)t->data + at, n); return;
  }
}

uint64_t tensor_differs(const struct tensor *a, const struct tensor *b) {
  size_t size = storage_bytes(a->storage);
  for (uint64_t at = 0; at < a->numel; at += PIECE) {
    uint64_t n = a->numel - at < PIECE ? a->numel - at : PIECE;
    uint32_t x[PIECE], y[PIECE];
    canonical(a, at, n, x);
    canonical(b, at, n, y);
    for (uint64_t i = 0; memcmp(x, y, n * size) != 0 && i < n; i++) {
      if (memcmp((char *)x + i * size, (char *)y + i * size, size) != 0) {
        return at + i;
      }
    }
  }
  return a->numel;
}

struct digest_job {
  const struct tensors *tensors;
  char (*hex)[65];
};

static void digest_one(void *ctx, uint64_t item, uint32_t thread) {
  (void)thread;
  const struct digest_job *job = ctx;
  const struct tensor *t = &job->tensors->v.v[item];
  struct sha256 sha;
  sha256_init(&sha);
  for (uint64_t at = 0; at < t->numel; at += PIECE) {
    uint64_t n = t->numel - at < PIECE ? t->numel - at : PIECE;
    uint32_t x[PIECE];
    canonical(t, at, n, x);
    sha256_add(&sha, x, n * storage_bytes(t->storage));
  }
  sha256_hex(&sha, job->hex[item]);
}

struct named_line {
  struct str name, line;
};
static int line_order(const void *a, const void *b) {
  return str_cmp(((const struct named_line *)a)->name,
                 ((const struct named_line *)b)->name);
}

struct lines {
  VEC(struct named_line) v;
};

static void add_line(struct arena *a, struct lines *l, struct str name, struct str line) {
  struct named_line x = {name, line};
  VEC_PUSH(a, l->v, x);
}

// Counters and host states of one parameter.
static void scalar_lines(const struct session *s, uint32_t param, struct lines *counts,
                         struct lines *hosts) {
  struct arena *a = s->tool->arena;
  struct str name = s->model->param[param].name;
  const struct rule *rule = s->job->rule[s->job->param[param].rule];
  add_line(a, counts, name,
           str_fmt(a, "count %llu  %s\n", (unsigned long long)steprt_count(s->rt, param),
                   str_escape(a, name).p));
  for (uint32_t i = 0, slot = 0; i < rule->n_states; i++) {
    if (!rule->state[i].is_host) {
      continue;
    }
    struct str state =
        str_fmt(a, "%.*s/%.*s", STR_FMT(name), STR_FMT(rule->state[i].name));
    add_line(a, hosts, state,
             str_fmt(a, "host %s  %s\n",
                     num_shortest(a, steprt_host_state(s->rt, param, slot)).p,
                     str_escape(a, state).p));
    slot++;
  }
}

static void put_sorted(struct buf *b, struct lines *l) {
  if (l->v.n != 0) {
    qsort(l->v.v, l->v.n, sizeof *l->v.v, line_order);
  }
  for (uint32_t i = 0; i < l->v.n; i++) {
    buf_str(b, l->v.v[i].line);
  }
}

enum exit_code digest_text(struct session *s, struct str *out) {
  struct arena *a = s->tool->arena;
  struct tensors all;
  enum exit_code code = session_tensors(s, true, true, &all);
  if (code != EXIT_OK) {
    return code;
  }
  char(*hex)[65] = arena_array(a, all.v.n, 65, 1);
  struct digest_job job = {&all, hex};
  rt_team_run(s->team, all.v.n, digest_one, &job);
  struct buf b = buf_new(a);
  for (uint32_t i = 0; i < all.v.n; i++) {
    buf_printf(&b, "%s  %s\n", hex[i], str_escape(a, all.v.v[i].name).p);
  }
  struct lines counts = {0}, hosts = {0};
  for (uint32_t i = 0; i < s->model->n_params; i++) {
    if (s->job->param[i].rule != UINT32_MAX) {
      scalar_lines(s, i, &counts, &hosts);
    }
  }
  put_sorted(&b, &counts);
  put_sorted(&b, &hosts);
  *out = buf_done(&b);
  return EXIT_OK;
}
