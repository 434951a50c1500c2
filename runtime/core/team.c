// Worker threads. A job is open while its items last; a worker that comes too late simply misses it, so the caller
// waits only for workers that took an item, never for one that still has to be woken.
//
// All of a job's state that threads agree on is one word, `gate`: the number of workers inside, whether the job is
// open, and its generation. Fields of the job are written while the gate is closed and nobody is inside.
#include "core/team.h"

#include "core/fpmode.h"

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdalign.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

enum {
  INSIDE = RT_MAX_THREADS, // workers inside: the lowest bits
  OPEN = 0x1000,
  GENERATION =
      0x2000, // the rest of the word counts jobs; when it wraps a worker may miss one, which is harmless
  SPINS = 1000, // some 20 to 50 microseconds: the gap between two phases of a step
  MAX_CPUS = 1 << 16
};

// What waiting threads poll, what working ones count with and what only the caller writes stand on lines of their own.
struct rt_team {
  alignas(64) _Atomic uint32_t gate;
  _Atomic uint32_t sleepers;
  _Atomic uint32_t left; // bumped by the last worker to leave a closed job
  atomic_bool stop;

  alignas(64) _Atomic uint64_t next;

  alignas(64) uint64_t n;
  rt_item_fn fn;
  void *ctx;
  uint32_t size, n_started;
  struct worker *worker;
  pid_t process; // that has the workers: a child of fork has none
};

struct worker {
  struct rt_team *team;
  uint32_t id;
  pthread_t thread;
};

static void futex_wait(_Atomic uint32_t *word, uint32_t seen) {
  syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, seen, NULL, NULL, 0);
}

static void futex_wake(_Atomic uint32_t *word, int n) {
  syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, n, NULL, NULL, 0);
}

static void work(struct rt_team *t, uint32_t id) {
  for (;;) {
    uint64_t item = atomic_fetch_add_explicit(&t->next, 1, memory_order_relaxed);
    if (item >= t->n) {
      return;
    }
    t->fn(t->ctx, item, id);
  }
}

// Waits until `gate` differs from `seen`; sleeps after a short spin.
static void await_gate(struct rt_team *t, uint32_t seen) {
  for (int i = 0; i < SPINS; i++) {
    if (atomic_load_explicit(&t->gate, memory_order_relaxed) != seen) {
      return;
    }
    __builtin_ia32_pause();
  }
  // Sequentially consistent with open_gate: either it sees this sleeper, or the kernel sees its new gate.
  atomic_fetch_add(&t->sleepers, 1);
  futex_wait(&t->gate, seen);
  atomic_fetch_sub(&t->sleepers, 1);
}

static void *worker_main(void *arg) {
  const struct worker *w = arg;
  struct rt_team *t = w->team;
  uint32_t done = 0; // generation of the job that this worker last saw the end of
  rt_fpmode_enter();
  for (;;) {
    uint32_t gate = atomic_load(&t->gate);
    if (atomic_load(&t->stop)) { // after the gate: rt_team_free sets it before the gate
      return NULL;
    }
    uint32_t generation = gate / GENERATION;
    if (!(gate & OPEN) || generation == done) {
      await_gate(t, gate);
      continue;
    }
    if (!atomic_compare_exchange_weak(&t->gate, &gate, gate + 1)) {
      continue;
    }
    work(t, w->id);
    done = generation;
    uint32_t after = atomic_fetch_sub(&t->gate, 1) - 1;
    if (!(after & OPEN) && !(after & INSIDE)) {
      atomic_fetch_add(&t->left, 1);
      futex_wake(&t->left, 1);
    }
  }
}

static void open_gate(struct rt_team *t, uint64_t n) {
  uint32_t gate = atomic_load_explicit(&t->gate, memory_order_relaxed);
  atomic_store(&t->gate, (gate / GENERATION + 1) * GENERATION | OPEN);
  if (atomic_load(&t->sleepers) > 0) {
    futex_wake(&t->gate, n > INT_MAX ? INT_MAX : (int)n);
  }
}

static void close_gate(struct rt_team *t) {
  atomic_fetch_and(&t->gate, ~(uint32_t)OPEN);
  for (int i = 0; i < SPINS; i++) {
    if (!(atomic_load(&t->gate) & INSIDE)) {
      return;
    }
    __builtin_ia32_pause();
  }
  for (;;) {
    uint32_t left =
        atomic_load(&t->left); // before the gate: the last one out changes it after
    if (!(atomic_load(&t->gate) & INSIDE)) {
      return;
    }
    futex_wait(&t->left, left);
  }
}

void rt_team_run(struct rt_team *t, uint64_t n, rt_item_fn fn, void *ctx) {
  if (n == 0) {
    return;
  }
  uint32_t mode = rt_fpmode_enter();
  if (t->size == 1 || n == 1) {
    for (uint64_t i = 0; i < n; i++) {
      fn(ctx, i, 0);
    }
  } else {
    t->fn = fn;
    t->ctx = ctx;
    t->n = n;
    atomic_store_explicit(&t->next, 0, memory_order_relaxed);
    open_gate(t, n - 1); // the caller takes one itself
    work(t, 0);
    close_gate(t);
  }
  rt_fpmode_leave(mode);
}

// Cores in the affinity mask of the caller; the mask's size is not known beforehand. 0: out of memory.
static uint32_t count_cpus(void) {
  for (int cpus = CPU_SETSIZE; cpus <= MAX_CPUS; cpus *= 2) {
    cpu_set_t *set = CPU_ALLOC((size_t)cpus);
    if (!set) {
      return 0;
    }
    size_t bytes = CPU_ALLOC_SIZE((size_t)cpus);
    int failed = sched_getaffinity(0, bytes, set);
    int count = failed ? 0 : CPU_COUNT_S(bytes, set);
    CPU_FREE(set);
    if (count > 0) {
      return count < RT_MAX_THREADS ? (uint32_t)count : RT_MAX_THREADS;
    }
    if (errno != EINVAL) {
      break;
    }
  }
  return 1;
}

// Signals belong to the caller's threads: workers start with all of them blocked.
static bool start_workers(struct rt_team *t) {
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  while (t->n_started + 1 < t->size) {
    struct worker *w = &t->worker[t->n_started];
    w->team = t;
    w->id = t->n_started + 1;
    if (pthread_create(&w->thread, NULL, worker_main, w) != 0) {
      break;
    }
    t->n_started++;
  }
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  return t->n_started + 1 == t->size;
}

steprt_status rt_team_new(uint32_t threads, struct rt_team **out) {
  *out = NULL;
  if (threads > RT_MAX_THREADS) {
    return STEPRT_BAD_ARGUMENT;
  }
  if (threads == 0) {
    threads = count_cpus();
  }
  if (threads == 0) {
    return STEPRT_NO_MEMORY;
  }
  struct rt_team *t = aligned_alloc(alignof(struct rt_team), sizeof *t);
  if (!t) {
    return STEPRT_NO_MEMORY;
  }
  *t = (struct rt_team){.size = threads, .process = getpid()};
  t->worker = calloc(threads, sizeof *t->worker);
  if (!t->worker || !start_workers(t)) {
    rt_team_free(t);
    return STEPRT_NO_MEMORY;
  }
  *out = t;
  return STEPRT_OK;
}

static void stop_workers(struct rt_team *t) {
  atomic_store(&t->stop, true);
  atomic_fetch_add(&t->gate, GENERATION); // differs from what any sleeper saw
  futex_wake(&t->gate, INT_MAX);
  for (uint32_t i = 0; i < t->n_started; i++) {
    pthread_join(t->worker[i].thread, NULL);
  }
}

void rt_team_free(struct rt_team *t) {
  if (!t) {
    return;
  }
  if (t->process == getpid()) {
    stop_workers(t);
  }
  free(t->worker);
  free(t);
}

uint32_t rt_team_size(const struct rt_team *t) {
  return t->size;
}
