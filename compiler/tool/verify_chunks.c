// Same bits for every chunk size, number of slots and tier: the plain step against chunked ones.
#include "tool/plan_options.h"
#include "tool/verify.h"

struct chunking {
  const char *offload;
  uint64_t bytes;
  uint32_t slots;
  bool overlap;
};
static const struct chunking chunkings[] = {{"host", 4 << 10, 3, false},
                                            {"host", 64 << 10, 4, true},
                                            {"host", 1 << 20, 8, false},
                                            {"host:0.5", 16 << 10, 3, true}};

enum exit_code verify_chunks(struct verify *v, struct verdict *out) {
  struct tool *t = v->tool;
  struct driver_input in = v->setup.in;
  *out = (struct verdict){
      .held = true,
      .result = STR("same bits"),
      .tried = STR("states on the host, in chunks of 4K, 64K and 1M through 3, 4 and 8 "
                   "slots, and half of them in chunks of 16K")};
  struct rt_plan *plain = v->driver.plan;
  enum exit_code code = EXIT_OK;
  for (size_t i = 0; i < sizeof chunkings / sizeof *chunkings && code == EXIT_OK; i++) {
    const struct chunking *c = &chunkings[i];
    struct str digests = {0};
    in.plan = (struct plan_options){.offload = str_of(c->offload),
                                    .chunk_bytes = c->bytes,
                                    .slots = c->slots,
                                    .overlap = c->overlap};
    code = driver_plan(&t->front, &in, &v->driver)
               ? verify_digests(v, v->driver.step, v->threads, &digests)
               : job_failed(t, &v->driver);
    if (code == EXIT_OK && !str_eq(digests, v->digests) && out->held) {
      out->held = false;
      out->result = str_fmt(t->arena, "with chunks of %llu B (%s) `%s` differs",
                            (unsigned long long)c->bytes, c->offload,
                            verify_difference(t->arena, v->digests, digests).p);
    }
  }
  v->driver.plan = plain;
  v->driver.step->plan = plain;
  return code;
}
