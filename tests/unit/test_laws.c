// L1, the same bits, for every shipped spec: chunk sizes, slots, tiers, the order of units, overlap and threads change
// nothing. Each row of the table is held against a plain run: nothing streams, one thread, all units at once.
#include "plan/program.h"
#include "support/law.h"

#include <criterion/criterion.h>

#define KIB ((uint64_t)1 << 10)
#define MIB ((uint64_t)1 << 20)
#define GIB ((uint64_t)1 << 30)

#ifndef LAWS_STRIDE // under sanitizers each spec takes a part of the table
#  define LAWS_STRIDE 1
#endif

struct way {
  const char *offload;
  uint64_t chunk_bytes;
  uint32_t slots;
  bool overlap;
  uint32_t threads;
  uint64_t subsets;
};
#ifndef LAWS_SWEEP
static const struct way ways[] = {
    {"none", 0, 0, false, 2, 5},           {"none", 64 * KIB, 0, true, 3, 21},
    {"host", 4 * KIB, 3, false, 2, 0},     {"host", 4 * KIB, 8, false, 1, 7},
    {"host", 4 * KIB, 5, true, 3, 2},      {"host", 64 * KIB, 4, false, 3, 0},
    {"host", 64 * KIB, 6, true, 1, 11},    {"host", 64 * KIB, 3, true, 2, 0},
    {"host", MIB, 3, false, 2, 13},        {"host", GIB, 7, true, 1, 3},
    {"host:0.5", 4 * KIB, 4, true, 2, 17}, {"host:0.5", 64 * KIB, 3, false, 3, 19},
};
#endif

static struct steprt_program *compile(size_t spec, const struct way *w) {
  return law_compile(&(struct law_plan){.spec = law_specs[spec][0],
                                        .model = law_specs[spec][1],
                                        .offload = w->offload,
                                        .chunk_bytes = w->chunk_bytes,
                                        .slots = w->slots,
                                        .overlap = w->overlap});
}

static struct law_digest plain(size_t spec) {
  struct steprt_program *p = compile(spec, &(struct way){.offload = "none"});
  struct law_digest d = law_run(p, &(struct law_run){.threads = 1});
  stepc_program_free(p);
  return d;
}

static void check(size_t spec, const struct steprt_program *p, const struct way *w,
                  const struct law_digest *expected) {
  struct law_digest d =
      law_run(p, &(struct law_run){.threads = w->threads, .subsets = w->subsets});
  cr_assert_str_eq(d.hex, expected->hex,
                   "%s: offload %s, chunks of %llu, %u slots, overlap %d, "
                   "%u threads, subsets %llu",
                   law_specs[spec][0], w->offload, (unsigned long long)w->chunk_bytes,
                   w->slots, w->overlap, w->threads, (unsigned long long)w->subsets);
}

#ifndef LAWS_SWEEP

Test(laws, every_way_to_run_a_shipped_spec_gives_the_same_bits) {
  for (size_t s = 0; law_specs[s][0]; s++) {
    struct law_digest expected = plain(s);
    for (size_t i = s % LAWS_STRIDE; i < sizeof ways / sizeof *ways; i += LAWS_STRIDE) {
      struct steprt_program *p = compile(s, &ways[i]);
      check(s, p, &ways[i], &expected);
      stepc_program_free(p);
    }
  }
}

// What the table is about happens: chunks of that size, in that many slots.
Test(laws, states_stream_as_asked) {
  struct steprt_program *small = compile(0, &ways[2]), *large = compile(0, &ways[9]);
  cr_assert_gt(small->plan->n_chunks, 100);
  cr_assert_eq(small->plan->n_slots, 3);
  cr_assert_leq(large->plan->n_chunks, 2); // one streams, one has nothing to
  cr_assert_eq(small->plan->host_bytes, large->plan->host_bytes);
  stepc_program_free(small);
  stepc_program_free(large);
}

#else // all of them, minutes

Test(laws, every_combination_gives_the_same_bits) {
  static const uint64_t chunks[] = {4 * KIB, 64 * KIB, MIB, GIB};
  static const char *const offloads[] = {"host", "host:0.5"};
  for (size_t s = 0; law_specs[s][0]; s++) {
    struct law_digest expected = plain(s);
    for (uint32_t i = 0; i < 4 * 2 * 6 * 2; i++) {
      struct way w = {.offload = offloads[i % 2],
                      .chunk_bytes = chunks[i / 2 % 4],
                      .slots = 3 + i / 8 % 6,
                      .overlap = i / 48};
      struct steprt_program *p = compile(s, &w);
      for (uint32_t k = 0; k < 6;
           k++) { // threads 1, 2, 3; all units at once, and two ways to take them
        w.threads = 1 + k % 3;
        w.subsets = k == 0 ? 0 : 1000 * i + k;
        check(s, p, &w, &expected);
      }
      stepc_program_free(p);
    }
  }
}

#endif
