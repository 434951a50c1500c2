// Lanes begin and end: queues for all that a caller may enqueue, threads that are ready before the first step.
#include "device/cpu/lane.h"

#include <signal.h>

// How many entries of a lane may be queued at once: those of a step whose units run in the worst of sets (each entry
// either has rows of its own or only waits and signals, once for each set that touches its chunk), and of the plain
// steps that a caller may be ahead.
static uint64_t queue_size(const struct rt_plan *plan, uint32_t lane) {
  uint64_t n = 0;
  for (uint32_t i = 0; i < plan->n_ops; i++) {
    const struct rt_op *op = &plan->op[i];
    bool orders = op->n_waits > 0 || op->signal != RT_NO_ID;
    uint64_t sets = op->chunk != RT_NO_ID && orders ? plan->chunk[op->chunk].n_units : 1;
    n += op->lane == lane ? sets + op->n + RT_STAGES : 0;
  }
  for (uint32_t i = 0; i < plan->n_init; i++) {
    n += plan->init[i].lane == lane;
  }
  return n;
}

static uint32_t most_waits(const struct rt_plan *plan) {
  uint32_t most = 0;
  for (uint32_t i = 0; i < plan->n_ops + plan->n_init; i++) {
    uint32_t n = cpu_op(plan, i)->n_waits;
    most = n > most ? n : most;
  }
  return most;
}

static bool make_queue(struct cpu_lane *lane, struct rt_memory *m) {
  uint64_t n = lane->capacity;
  if (n == 0) {
    return true;
  }
  lane->entry = rt_memory_alloc(m, n, sizeof *lane->entry);
  lane->record = rt_memory_alloc(m, n, sizeof *lane->record);
  lane->ticket = rt_memory_alloc(m, n * lane->most_waits, sizeof *lane->ticket);
  return lane->entry && lane->record && lane->ticket;
}

static bool make_queues(struct cpu_lanes *l, struct rt_memory *m, bool trace) {
  uint64_t n_events = l->plan->n_events, all = RT_N_LANES;
  bool ok = true;
  for (uint32_t i = 0; i < RT_N_LANES && ok; i++) {
    struct cpu_lane *lane = &l->lane[i];
    *lane = (struct cpu_lane){.lanes = l,
                              .id = i,
                              .capacity = queue_size(l->plan, i),
                              .most_waits = most_waits(l->plan)};
    ok = make_queue(lane, m);
    all += lane->capacity;
  }
  l->signalled = ok ? rt_memory_alloc(m, n_events, sizeof *l->signalled) : NULL;
  l->done = ok ? rt_memory_alloc(m, n_events, sizeof *l->done) : NULL;
  if (trace && ok) {
    l->n_trace = all; // more than can be queued and running at once
    l->trace = rt_memory_alloc(m, all, sizeof *l->trace);
  }
  return l->signalled && l->done && (!trace || l->trace);
}

// Signals belong to the caller's threads.
static bool start_threads(struct cpu_lanes *l) {
  sigset_t all, before;
  bool ok = true;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  for (uint32_t i = 0; i < RT_N_LANES && ok; i++) {
    struct cpu_lane *lane = &l->lane[i];
    if (lane->capacity > 0) {
      ok = pthread_create(&lane->thread, NULL, cpu_lane_main, lane) == 0;
      lane->started = ok;
    }
  }
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  return ok;
}

// What threads make when they start is there before a step (L2).
static steprt_status wait_started(struct cpu_lanes *l) {
  uint32_t n = 0;
  for (int i = 0; i < RT_N_LANES; i++) {
    n += l->lane[i].started;
  }
  pthread_mutex_lock(&l->lock);
  while (l->n_ready < n) {
    pthread_cond_wait(&l->changed, &l->lock);
  }
  pthread_mutex_unlock(&l->lock);
  return l->started;
}

steprt_status cpu_lanes_open(struct cpu_lanes *l, struct rt_memory *m, bool trace) {
  l->process = getpid();
  if (!make_queues(l, m, trace) || pthread_mutex_init(&l->lock, NULL)) {
    return STEPRT_NO_MEMORY;
  }
  if (pthread_cond_init(&l->changed, NULL)) {
    pthread_mutex_destroy(&l->lock);
    return STEPRT_NO_MEMORY;
  }
  l->made = true;
  return start_threads(l) ? wait_started(l) : STEPRT_NO_MEMORY;
}

void cpu_lanes_close(struct cpu_lanes *l) {
  if (!l->made || cpu_is_forked(l)) {
    return;
  }
  pthread_mutex_lock(&l->lock);
  l->stop = true;
  pthread_cond_broadcast(&l->changed);
  pthread_mutex_unlock(&l->lock);
  for (int i = 0; i < RT_N_LANES; i++) {
    if (l->lane[i].started) {
      pthread_join(l->lane[i].thread, NULL);
    }
  }
  pthread_cond_destroy(&l->changed);
  pthread_mutex_destroy(&l->lock);
}
