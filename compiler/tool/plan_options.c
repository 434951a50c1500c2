// The options of a plan.
#include "tool/plan_options.h"

static const enum option_id plan_option_ids[] = {
    OPT_RANK,       OPT_OFFLOAD,     OPT_CHUNK,  OPT_SLOTS,
    OPT_GPU_MEMORY, OPT_HOST_MEMORY, OPT_OVERLAP};

const char *plan_options_given(const struct tool *t) {
  for (size_t i = 0; i < sizeof plan_option_ids / sizeof *plan_option_ids; i++) {
    if (args_has(&t->args, plan_option_ids[i])) {
      return option_info(plan_option_ids[i])->name;
    }
  }
  return NULL;
}

enum exit_code plan_options_read(struct tool *t, struct plan_options *out) {
  uint64_t slots = 0, rank = 0;
  *out = (struct plan_options){0};
  if (!option_u64(t, OPT_CHUNK, 1, UINT64_MAX, &out->chunk_bytes) ||
      !option_u64(t, OPT_SLOTS, 1, 1024, &slots) ||
      !option_u64(t, OPT_GPU_MEMORY, 1, UINT64_MAX, &out->gpu_memory) ||
      !option_u64(t, OPT_HOST_MEMORY, 1, UINT64_MAX, &out->host_memory) ||
      !option_u64(t, OPT_RANK, 0, UINT32_MAX - 1, &rank)) {
    return EXIT_USAGE;
  }
  const char *offload = args_value(&t->args, OPT_OFFLOAD);
  out->offload = offload != NULL ? str_of(offload) : STR("");
  out->slots = (uint32_t)slots;
  out->rank = (uint32_t)rank;
  out->overlap = args_has(&t->args, OPT_OVERLAP);
  return EXIT_OK;
}
