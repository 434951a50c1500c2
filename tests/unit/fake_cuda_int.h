// Inside the fake driver: streams, events and memory ranges.
#ifndef TESTS_FAKE_CUDA_INT_H
#define TESTS_FAKE_CUDA_INT_H

#include "fake_cuda.h"

#include <stdbool.h>

#define CU_FN(field, symbol, since, parameters) int fake_##field parameters;
#include "device/cuda/driver.def"
#undef CU_FN
FAKE_API int cuDriverGetVersion(int *version);
FAKE_API int cuGetProcAddress_v2(const char *symbol, void **function, int version,
                                 uint64_t flags, int *status);

enum {
  FAKE_DEVICES = 2,
  FAKE_DEPTH = 8,
  FAKE_KERNELS = 32,
  FAKE_RANGES = 256,
  FAKE_STREAMS = 48
};
enum { FAKE_HOST = 1, FAKE_DEVICE = 2 }; // CUmemorytype

struct fake_event {
  uint64_t recorded, done; // how often; of the last record that was reached
  uint64_t time;
  bool timed;
};

enum fake_task_kind { FAKE_COPY, FAKE_SET, FAKE_LAUNCH, FAKE_RECORD, FAKE_WAIT };
struct fake_task {
  enum fake_task_kind kind;
  struct fake_task *next;
  void *to;
  const void *from;
  void *owned; // freed behind the task
  size_t bytes;
  unsigned char value;
  struct fake_event *event;
  uint64_t count; // RECORD, WAIT: of the event; LAUNCH: blocks
  const struct fake_kernel *kernel;
  uint64_t arg[8];
};

// A captured list of tasks, or what was instantiated from one.
struct fake_graph {
  struct fake_task *first, *last;
};

struct fake_stream {
  int device;
  struct fake_graph *capture; // NULL: tasks are enqueued
  struct fake_task *first, *last;
};

struct fake_range {
  char *at;
  size_t bytes;
  unsigned type;
  int device;
};

struct fake {
  int version, sticky, fail_error;
  size_t free;
  const char *hidden, *fail_symbol;
  uint64_t fail_call, random, clock, waits;
  char context[FAKE_DEVICES]; // their addresses are the contexts
  void *stack[FAKE_DEPTH];
  uint32_t depth, retained;
  bool trusts;
  const struct fake_kernel *kernel[FAKE_KERNELS];
  uint32_t n_kernels;
  struct fake_stream *stream[FAKE_STREAMS], standard[FAKE_DEVICES];
  struct fake_range range[FAKE_RANGES];
  struct fake_live live;
};
extern struct fake fake;

// Counts the call; the error that it must return, or 0.
int fake_enter(const char *symbol);
int fake_current(void); // the current context's device
#define ENTER(name)                                                                      \
  do {                                                                                   \
    int failed = fake_enter(name);                                                       \
    if (failed != 0) {                                                                   \
      return failed;                                                                     \
    }                                                                                    \
  } while (0)
// Also needs a context.
#define ENTER_CONTEXT(name)                                                              \
  do {                                                                                   \
    ENTER(name);                                                                         \
    if (fake.depth == 0) {                                                               \
      return 201;                                                                        \
    }                                                                                    \
  } while (0)

struct fake_stream *fake_new_stream(int device);
void fake_drop_stream(struct fake_stream *s);
struct fake_stream *fake_stream_of(void *handle, int device); // default streams too
void fake_enqueue(struct fake_stream *s, const struct fake_task *t);
void fake_run_stream(struct fake_stream *s);
void fake_run_event(struct fake_event *e);
void fake_drop_all(void);

void fake_add_range(void *at, size_t bytes, unsigned type, int device);
void fake_drop_range(void *at);
const struct fake_range *fake_range_of(const void *at);         // NULL: none
bool fake_lies_in(const void *at, size_t bytes, unsigned type); // in one range

#endif
