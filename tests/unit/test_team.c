// Worker threads: every item exactly once, the floating-point mode, signals, and jobs in quick succession.
#include "core/team.h"

#include <criterion/criterion.h>
#include <fenv.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
#include <xmmintrin.h>

static struct rt_team *team_of(uint32_t threads) {
  struct rt_team *t = NULL;
  cr_assert_eq(rt_team_new(threads, &t), STEPRT_OK);
  return t;
}

struct tally {
  uint32_t threads;
  _Atomic uint32_t *seen;
  atomic_bool thread_out_of_range;
};

static void tally_item(void *ctx, uint64_t item, uint32_t thread) {
  struct tally *t = ctx;
  atomic_fetch_add(&t->seen[item], 1);
  if (thread >= t->threads) {
    atomic_store(&t->thread_out_of_range, true);
  }
}

Test(team, every_item_runs_exactly_once) {
  static const uint32_t threads[] = {1, 2, 3, 8};
  static const uint64_t items[] = {0, 1, 2, 7, 1000};
  for (size_t i = 0; i < sizeof threads / sizeof *threads; i++) {
    struct rt_team *t = team_of(threads[i]);
    cr_assert_eq(rt_team_size(t), threads[i]);
    for (size_t k = 0; k < sizeof items / sizeof *items; k++) {
      struct tally tally = {.threads = threads[i],
                            .seen = calloc(items[k] + 1, sizeof(_Atomic uint32_t))};
      rt_team_run(t, items[k], tally_item, &tally);
      for (uint64_t n = 0; n < items[k]; n++) {
        cr_assert_eq(tally.seen[n], 1);
      }
      cr_assert_not(tally.thread_out_of_range);
      free(tally.seen);
    }
    rt_team_free(t);
  }
}

static void add_item(void *ctx, uint64_t item, uint32_t thread) {
  (void)thread;
  uint64_t *sums =
      ctx; // an entry per item: plain memory, so that a race detector sees a missing order
  sums[item] += item + 1;
}

Test(team, jobs_follow_each_other_in_order) {
  struct rt_team *t = team_of(4);
  uint64_t sums[16] = {0};
  for (uint64_t round = 1; round <= 3000; round++) {
    rt_team_run(t, 1 + round % 16, add_item, sums);
    uint64_t first = sums[0];
    cr_assert_eq(first, round);
    if (round % 500 == 0) {
      sched_yield();
    }
  }
  rt_team_free(t);
}

static void mode_item(void *ctx, uint64_t item, uint32_t thread) {
  (void)thread;
  unsigned *modes = ctx;
  modes[item] = _mm_getcsr() & 0xffc0u; // without the sticky flags
}

Test(team, items_run_in_the_mode_of_the_numbers_section) {
  unsigned flush = 0x8040u | 0x1f80u; // FTZ, DAZ
  for (uint32_t threads = 1; threads <= 3; threads++) {
    struct rt_team *t = team_of(threads);
    unsigned before = _mm_getcsr();
    _mm_setcsr(flush);
    fesetround(FE_UPWARD);
    unsigned modes[64];
    rt_team_run(t, 64, mode_item, modes);
    unsigned after = _mm_getcsr() & 0xffc0u;
    _mm_setcsr(before);
    fesetround(FE_TONEAREST);
    for (int i = 0; i < 64; i++) {
      cr_assert_eq(modes[i] & 0xe040u, 0);
    }
    cr_assert_eq(after & 0xe040u, 0xc040u & (flush | 0x4000u));
    rt_team_free(t);
  }
}

static void mask_item(void *ctx, uint64_t item, uint32_t thread) {
  sigset_t mask;
  usleep(200); // so that workers get some
  pthread_sigmask(SIG_SETMASK, NULL, &mask);
  ((int *)ctx)[item] =
      thread == 0 || (sigismember(&mask, SIGUSR1) && sigismember(&mask, SIGTERM));
}

Test(team, workers_block_signals_and_the_caller_keeps_its_mask) {
  sigset_t before, after;
  pthread_sigmask(SIG_SETMASK, NULL, &before);
  struct rt_team *t = team_of(3);
  pthread_sigmask(SIG_SETMASK, NULL, &after);
  cr_assert_eq(sigismember(&before, SIGUSR1), sigismember(&after, SIGUSR1));
  int blocked[64];
  rt_team_run(t, 64, mask_item, blocked);
  for (int i = 0; i < 64; i++) {
    cr_assert(blocked[i]);
  }
  rt_team_free(t);
}

Test(team, default_size_is_the_affinity_mask) {
  cpu_set_t one, before;
  sched_getaffinity(0, sizeof before, &before);
  struct rt_team *t = team_of(0);
  cr_assert_eq(rt_team_size(t), (uint32_t)CPU_COUNT(&before));
  rt_team_free(t);
  CPU_ZERO(&one);
  for (size_t cpu = 0; cpu < CPU_SETSIZE && CPU_COUNT(&one) == 0; cpu++) {
    if (CPU_ISSET(cpu, &before)) {
      CPU_SET(cpu, &one);
    }
  }
  cr_assert_eq(sched_setaffinity(0, sizeof one, &one), 0);
  t = team_of(0);
  cr_assert_eq(rt_team_size(t), 1);
  rt_team_free(t);
}

Test(team, absurd_sizes_are_refused) {
  struct rt_team *t;
  cr_assert_eq(rt_team_new(100000, &t), STEPRT_BAD_ARGUMENT);
  cr_assert_null(t);
  rt_team_free(NULL);
}

// As data loaders of trainers do: the child has no workers to wait for.
Test(team, a_child_of_fork_works_alone_and_frees_it) {
  struct rt_team *t = team_of(4);
  uint64_t sums[100] = {0};
  rt_team_run(t, 100, add_item, sums);
  pid_t child = fork();
  cr_assert_geq(child, 0);
  if (child == 0) {
    alarm(20);
    rt_team_run(t, 100, add_item, sums);
    rt_team_free(t);
    _exit(sums[99] == 200 ? 0 : 1);
  }
  int status = -1;
  cr_assert_eq(waitpid(child, &status, 0), child);
  cr_assert_eq(status, 0);
  rt_team_free(t);
}
