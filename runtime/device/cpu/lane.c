// One lock guards queues and events: entries are chunks of work, milliseconds long, and few.
//
// A wait is resolved when its entry is issued, to the number of signals of its event issued before (plan.h). So every
// entry waits only for entries issued before it, in the order of issue, and lanes cannot wait for each other in a ring.
#include "device/cpu/lane.h"

#include "core/fpmode.h"

// ---- a lane's thread

static bool may_start(const struct cpu_lanes *l, const struct rt_op *op,
                      const uint64_t *ticket) {
  for (uint32_t i = 0; i < op->n_waits; i++) {
    if (l->done[l->plan->wait[op->first_wait + i]] < ticket[i]) {
      return false;
    }
  }
  return true;
}

// Times count from the last UPLOAD: it is the first of its step on COMPUTE.
static void keep_times(struct cpu_lane *lane, const struct rt_op *op, uint64_t record,
                       double begin, double end) {
  struct cpu_lanes *l = lane->lanes;
  if (op->kind == RT_OP_UPLOAD) {
    memset(l->seconds, 0, sizeof l->seconds);
  }
  if (lane->id == RT_LANE_COMPUTE) {
    l->seconds[op->kind] += end - begin;
  }
  if (l->trace) {
    l->trace[record].begin = begin;
    l->trace[record].end = end;
  }
}

static void finish(struct cpu_lane *lane, const struct rt_op *op) {
  if (op->signal != RT_NO_ID) {
    lane->lanes->done[op->signal]++;
  }
  lane->done++;
}

// The lock is held but while the entry runs.
static void run_next(struct cpu_lane *lane) {
  struct cpu_lanes *l = lane->lanes;
  uint64_t at = lane->done % lane->capacity, record = lane->record[at];
  struct cpu_entry e = lane->entry[at];
  const struct rt_op *op = cpu_op(l->plan, e.op);
  while (!may_start(l, op, lane->ticket + at * lane->most_waits)) {
    pthread_cond_wait(&l->changed, &l->lock);
  }
  pthread_mutex_unlock(&l->lock);
  double begin = rt_now();
  l->exec(l->device, &e);
  double end = rt_now();
  pthread_mutex_lock(&l->lock);
  keep_times(lane, op, record, begin, end);
  finish(lane, op);
  pthread_cond_broadcast(&l->changed);
}

void *cpu_lane_main(void *arg) {
  struct cpu_lane *lane = arg;
  struct cpu_lanes *l = lane->lanes;
  rt_fpmode_enter();
  steprt_status started = lane->id == RT_LANE_COMPUTE ? l->start(l->device) : STEPRT_OK;
  pthread_mutex_lock(&l->lock);
  l->n_ready++;
  l->started = started ? started : l->started;
  pthread_cond_broadcast(&l->changed);
  for (;;) {
    if (lane->done < lane->issued) {
      run_next(lane);
    } else if (l->stop) {
      break;
    } else {
      pthread_cond_wait(&l->changed, &l->lock);
    }
  }
  pthread_mutex_unlock(&l->lock);
  return NULL;
}

// ---- the caller's thread

static uint64_t bytes_of(const struct rt_plan *plan, const struct rt_op *op,
                         const struct cpu_entry *e) {
  uint64_t bytes = 0, all = 0;
  bool copies = op->kind == RT_OP_LOAD || op->kind == RT_OP_STORE;
  for (uint32_t i = op->first; i < op->first + op->n; i++) {
    uint64_t n = copies ? plan->copy[i].bytes : plan->row[i].numel;
    all += n;
    bytes += i >= e->first && i < e->first + e->n ? n : 0;
  }
  if (copies || op->n == 0) {
    return copies ? bytes : op->bytes_read + op->bytes_written;
  }
  return all == 0 ? 0
                  : (uint64_t)((double)(op->bytes_read + op->bytes_written) *
                               ((double)bytes / (double)all));
}

static uint64_t new_record(struct cpu_lanes *l, const struct rt_op *op,
                           const struct cpu_entry *e) {
  if (!l->trace) {
    return 0;
  }
  uint64_t at = l->next_trace++ % l->n_trace;
  l->trace[at] = (struct steprt_trace_record){
      .op = e->op, .lane = op->lane, .bytes = bytes_of(l->plan, op, e)};
  return at;
}

static void enqueue(struct cpu_lanes *l, struct cpu_lane *lane, const struct rt_op *op,
                    const struct cpu_entry *e) {
  uint64_t at = lane->issued % lane->capacity;
  lane->entry[at] = *e;
  lane->record[at] = new_record(l, op, e);
  for (uint32_t i = 0; i < op->n_waits; i++) {
    lane->ticket[at * lane->most_waits + i] =
        l->signalled[l->plan->wait[op->first_wait + i]];
  }
  if (op->signal != RT_NO_ID) {
    l->signalled[op->signal]++;
  }
  lane->issued++;
}

// The order of issue satisfies every wait. The lock may have been held when the process forked: it is left alone.
static steprt_status issue_forked(struct cpu_lanes *l, const struct cpu_entry *e) {
  for (int i = 0; i < RT_N_LANES; i++) {
    if (l->lane[i].done < l->lane[i].issued) {
      return STEPRT_BAD_STATE;
    }
  }
  const struct rt_op *op = cpu_op(l->plan, e->op);
  struct cpu_lane *lane = &l->lane[op->lane];
  uint64_t record = new_record(l, op, e);
  uint32_t mode = rt_fpmode_enter();
  double begin = rt_now();
  l->exec(l->device, e);
  keep_times(lane, op, record, begin, rt_now());
  rt_fpmode_leave(mode);
  if (op->signal != RT_NO_ID) {
    l->signalled[op->signal]++;
  }
  lane->issued++;
  finish(lane, op);
  return STEPRT_OK;
}

steprt_status cpu_lanes_issue(struct cpu_lanes *l, const struct cpu_entry *e) {
  if (cpu_is_forked(l)) {
    return issue_forked(l, e);
  }
  const struct rt_op *op = cpu_op(l->plan, e->op);
  struct cpu_lane *lane = &l->lane[op->lane];
  pthread_mutex_lock(&l->lock);
  *l->waits += lane->issued - lane->done == lane->capacity;
  while (lane->issued - lane->done == lane->capacity) {
    pthread_cond_wait(&l->changed, &l->lock);
  }
  enqueue(l, lane, op, e);
  pthread_cond_broadcast(&l->changed);
  pthread_mutex_unlock(&l->lock);
  return STEPRT_OK;
}

steprt_status cpu_lanes_wait(struct cpu_lanes *l, enum rt_lane lane, uint64_t ticket,
                             uint64_t *waits) {
  if (cpu_is_forked(l)) {
    return l->lane[lane].done < ticket ? STEPRT_BAD_STATE : STEPRT_OK;
  }
  pthread_mutex_lock(&l->lock);
  *waits += l->lane[lane].done < ticket;
  while (l->lane[lane].done < ticket) {
    pthread_cond_wait(&l->changed, &l->lock);
  }
  pthread_mutex_unlock(&l->lock);
  return STEPRT_OK;
}

uint64_t cpu_lanes_ticket(const struct cpu_lanes *l, enum rt_lane lane) {
  return l->lane[lane].issued; // written by this thread only
}
