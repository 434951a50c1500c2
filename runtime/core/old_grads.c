// Each thread sums into bins of its own; merging them does not depend on who summed what (L1).
#include "core/old_grads.h"

#include <math.h>

static void add_range(struct binned *sum, uint32_t storage, const void *grad,
                      uint64_t begin, uint64_t end) {
  if (storage == RT_BF16) {
    binned_add_squares_bf16(sum, (const uint16_t *)grad + begin, end - begin);
  } else if (storage == RT_F16) {
    binned_add_squares_f16(sum, (const uint16_t *)grad + begin, end - begin);
  } else {
    binned_add_squares_f32(sum, (const float *)grad + begin, end - begin);
  }
}

static void measure_item(void *ctx, uint64_t item, uint32_t thread) {
  struct steprt *rt = ctx;
  const struct rt_item *it = &rt->old.grad_item[item];
  for (uint32_t i = it->first; i < it->first + it->n; i++) {
    const struct rt_param *v = &rt->program->param[i];
    if (!rt->takes_part[i]) {
      continue;
    }
    uint64_t end = it->n == 1 ? it->end : v->numel;
    add_range(&rt->old.thread_sum[thread].sum,
              rt->program->buffer[v->grad_buffer].storage, rt->old.base[v->grad_buffer],
              it->begin, end);
  }
}

struct rt_grads rt_grads_measure(struct steprt *rt) {
  struct rt_grads g = {0};
  uint32_t threads = rt_team_size(rt->old.team);
  for (uint32_t t = 0; t < threads; t++) {
    binned_init(&rt->old.thread_sum[t].sum);
  }
  rt_team_run(rt->old.team, rt->old.n_grad_items, measure_item, rt);
  struct binned *sum = &rt->old.thread_sum[0].sum;
  for (uint32_t t = 1; t < threads; t++) {
    binned_merge(sum, &rt->old.thread_sum[t].sum);
  }
  g.norm = sqrt(binned_value(sum));
  g.nonfinite = sum->specials != 0;
  for (uint32_t i = 0; i < rt->program->n_params; i++) {
    if (rt->takes_part[i]) {
      const struct rt_buffer *b = &rt->program->buffer[rt->program->param[i].grad_buffer];
      g.bytes += b->numel * rt_storage_bytes(b->storage);
    }
  }
  return g;
}
