// The fake driver's streams: tasks run when somebody waits, the next stream drawn from those that may go on.
#include "fake_cuda_int.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct fake_stream *fake_new_stream(int device) {
  uint32_t i = 0;
  while (i < FAKE_STREAMS && fake.stream[i] != NULL) {
    i++;
  }
  if (i == FAKE_STREAMS) {
    abort();
  }
  fake.stream[i] = calloc(1, sizeof *fake.stream[i]);
  fake.stream[i]->device = device;
  fake.live.streams++;
  return fake.stream[i];
}

static void drop_list(struct fake_task *t) {
  while (t != NULL) {
    struct fake_task *next = t->next;
    free(t->owned);
    free(t);
    t = next;
  }
}

static void drop_tasks(struct fake_stream *s) {
  drop_list(s->first);
  s->first = NULL;
}

void fake_drop_stream(struct fake_stream *s) {
  for (uint32_t i = 0; i < FAKE_STREAMS; i++) {
    if (fake.stream[i] == s) {
      fake.stream[i] = NULL;
      fake.live.streams--;
    }
  }
  drop_tasks(s);
  free(s);
}

void fake_drop_all(void) {
  for (uint32_t i = 0; i < FAKE_STREAMS; i++) {
    if (fake.stream[i] != NULL) {
      fake_drop_stream(fake.stream[i]);
    }
  }
  for (uint32_t i = 0; i < FAKE_DEVICES; i++) {
    drop_tasks(&fake.standard[i]);
  }
}

struct fake_stream *fake_stream_of(void *handle, int device) {
  return (uintptr_t)handle <= 2 ? &fake.standard[device] : handle;
}

static void append(struct fake_task **first, struct fake_task **last,
                   const struct fake_task *t) {
  struct fake_task *copy = malloc(sizeof *copy);
  *copy = *t;
  copy->next = NULL;
  if (*first == NULL) {
    *first = copy;
  } else {
    (*last)->next = copy;
  }
  *last = copy;
}

void fake_enqueue(struct fake_stream *s, const struct fake_task *t) {
  if (s->capture != NULL) {
    append(&s->capture->first, &s->capture->last, t);
  } else {
    append(&s->first, &s->last, t);
  }
}

// ---- graphs: only launches are captured, whose arguments are copied; an instance is the list again

int fake_capture_begin(void *stream, int mode) {
  ENTER_CONTEXT("cuStreamBeginCapture");
  (void)mode;
  struct fake_stream *s = fake_stream_of(stream, fake_current());
  s->capture = calloc(1, sizeof *s->capture);
  fake.live.graphs++;
  return 0;
}

int fake_capture_end(void *stream, void **graph) {
  ENTER_CONTEXT("cuStreamEndCapture");
  struct fake_stream *s = fake_stream_of(stream, fake_current());
  *graph = s->capture;
  s->capture = NULL;
  return 0;
}

int fake_graph_instantiate(void **exec, void *graph, unsigned long long flags) {
  ENTER_CONTEXT("cuGraphInstantiateWithFlags");
  (void)flags;
  const struct fake_graph *from = graph;
  struct fake_graph *to = calloc(1, sizeof *to);
  fake.live.graphs++;
  for (const struct fake_task *t = from->first; t != NULL; t = t->next) {
    if (t->kind != FAKE_LAUNCH) {
      abort();
    }
    append(&to->first, &to->last, t);
  }
  *exec = to;
  return 0;
}

int fake_graph_upload(void *exec, void *stream) {
  ENTER_CONTEXT("cuGraphUpload");
  return exec == NULL || stream == NULL ? 1 : 0;
}

int fake_graph_launch(void *exec, void *stream) {
  ENTER_CONTEXT("cuGraphLaunch");
  const struct fake_graph *g = exec;
  for (const struct fake_task *t = g->first; t != NULL; t = t->next) {
    fake_enqueue(fake_stream_of(stream, fake_current()), t);
  }
  return 0;
}

static void drop_graph(struct fake_graph *g) {
  drop_list(g->first);
  free(g);
  fake.live.graphs--;
}

int fake_graph_destroy(void *graph) {
  drop_graph(graph);
  ENTER("cuGraphDestroy");
  return 0;
}

int fake_graph_exec_destroy(void *exec) {
  drop_graph(exec);
  ENTER("cuGraphExecDestroy");
  return 0;
}

static bool may_run(const struct fake_stream *s) {
  const struct fake_task *t = s->first;
  return t != NULL && (t->kind != FAKE_WAIT || t->event->done >= t->count);
}

static void launch(const struct fake_task *t) {
  void *arg[8];
  for (uint32_t i = 0; i < t->kernel->n_args; i++) {
    arg[i] = (void *)(uintptr_t)&t->arg[i];
  }
  t->kernel->run(t->kernel, arg, (unsigned)t->count);
}

static void run_first(struct fake_stream *s) {
  struct fake_task *t = s->first;
  s->first = t->next;
  fake.clock++;
  switch (t->kind) {
  case FAKE_COPY: memcpy(t->to, t->from, t->bytes); break;
  case FAKE_SET: memset(t->to, t->value, t->bytes); break;
  case FAKE_LAUNCH: launch(t); break;
  case FAKE_RECORD:
    t->event->done = t->count;
    t->event->time = fake.clock;
    break;
  case FAKE_WAIT: break;
  }
  free(t->owned);
  free(t);
}

static uint64_t draw(void) { // an LCG's high bits
  fake.random = fake.random * 6364136223846793005u + 1442695040888963407u;
  return fake.random >> 33;
}

static void run_any(void) {
  struct fake_stream *ready[FAKE_STREAMS + FAKE_DEVICES];
  uint32_t n = 0;
  for (uint32_t i = 0; i < FAKE_STREAMS; i++) {
    if (fake.stream[i] != NULL && may_run(fake.stream[i])) {
      ready[n++] = fake.stream[i];
    }
  }
  for (uint32_t i = 0; i < FAKE_DEVICES; i++) {
    if (may_run(&fake.standard[i])) {
      ready[n++] = &fake.standard[i];
    }
  }
  if (n == 0) {
    (void)fputs("fake CUDA: streams wait for each other\n", stderr);
    abort();
  }
  run_first(ready[draw() % n]);
}

void fake_run_stream(struct fake_stream *s) {
  fake.waits += s->first != NULL;
  while (s->first != NULL && fake.sticky == 0) {
    run_any();
  }
}

void fake_run_event(struct fake_event *e) {
  uint64_t until = e->recorded;
  fake.waits += e->done < until;
  while (e->done < until && fake.sticky == 0) {
    run_any();
  }
}

void fake_cuda_synchronize(void *stream) {
  fake_run_stream(stream);
}

void fake_cuda_copy(void *stream, void *to, const void *from, size_t bytes) {
  struct fake_task t = {.kind = FAKE_COPY, .to = to, .from = from, .bytes = bytes};
  fake_enqueue(stream, &t);
}

// ---- memory

void fake_add_range(void *at, size_t bytes, unsigned type, int device) {
  uint32_t i = 0;
  while (i < FAKE_RANGES && fake.range[i].at != NULL) {
    i++;
  }
  if (i == FAKE_RANGES) {
    abort();
  }
  fake.range[i] = (struct fake_range){at, bytes, type, device};
}

void fake_drop_range(void *at) {
  for (uint32_t i = 0; i < FAKE_RANGES; i++) {
    if (fake.range[i].at == at) {
      fake.range[i].at = NULL;
      return;
    }
  }
  abort();
}

const struct fake_range *fake_range_of(const void *at) {
  for (uint32_t i = 0; i < FAKE_RANGES; i++) {
    const struct fake_range *r = &fake.range[i];
    if (r->at != NULL && (uintptr_t)at - (uintptr_t)r->at < r->bytes) {
      return r;
    }
  }
  return NULL;
}

bool fake_lies_in(const void *at, size_t bytes, unsigned type) {
  const struct fake_range *r = fake_range_of(at);
  return r != NULL && r->type == type &&
         (uintptr_t)at - (uintptr_t)r->at + bytes <= r->bytes;
}
