// Items of work: every element of every tensor exactly once, in order, at multiples of 4096.
#include "core/items.h"
#include "random.h"

#include <criterion/criterion.h>

enum { N = 200, MAX_ITEMS = 20000 };

static uint64_t numel_of(const void *ctx, uint32_t i) {
  return ((const uint64_t *)ctx)[i];
}

static uint64_t draw(uint64_t *seed) {
  static const uint64_t edges[] = {0,
                                   1,
                                   RT_ITEM_LEAST - 1,
                                   RT_ITEM_LEAST,
                                   RT_ITEM_LEAST + 1,
                                   RT_ITEM_MOST,
                                   32 * RT_ITEM_MOST + 1};
  if (random_below(seed, 2)) {
    return edges[random_below(seed, sizeof edges / sizeof *edges)];
  }
  return random_below(seed, 1 << random_below(seed, 22));
}

// Walks the items; `tensor`, `at`: the first element not covered yet.
static void check(const struct rt_item *item, uint64_t n, const uint64_t *numel,
                  uint32_t first, uint32_t end) {
  uint32_t tensor = first;
  uint64_t at = 0;
  for (uint64_t i = 0; i < n; i++) {
    uint64_t sum = 0;
    for (; tensor < item[i].first; tensor++) {
      cr_assert(at == 0 && numel[tensor] == 0, "tensor %u left out", tensor);
    }
    cr_assert(item[i].n == 1 || (at == 0 && item[i].begin == 0));
    for (uint32_t k = 0; k < item[i].n; k++) {
      uint64_t stop = item[i].n == 1 ? item[i].end : numel[tensor];
      cr_assert(at == (item[i].n == 1 ? item[i].begin : 0) && at % 4096 == 0);
      cr_assert(stop > at || numel[tensor] == 0);
      sum += stop - at;
      tensor += stop == numel[tensor];
      at = stop == numel_of(numel, item[i].first + k) ? 0 : stop;
    }
    cr_assert(sum > 0 && sum <= RT_ITEM_MOST);
  }
  for (; tensor < end; tensor++) {
    cr_assert(at == 0 && numel[tensor] == 0, "tensor %u left out", tensor);
  }
}

Test(items, cover_every_element_once) {
  static struct rt_item item[MAX_ITEMS];
  uint64_t seed = 1;
  for (int trial = 0; trial < 300; trial++) {
    uint64_t numel[N];
    uint32_t first = (uint32_t)random_below(&seed, N),
             n = (uint32_t)random_below(&seed, N - first + 1);
    for (int i = 0; i < N; i++) {
      numel[i] = draw(&seed);
    }
    uint64_t count = rt_items_cut(numel_of, numel, first, n, NULL);
    cr_assert_leq(count, MAX_ITEMS);
    cr_assert_eq(rt_items_cut(numel_of, numel, first, n, item), count);
    check(item, count, numel, first, first + n);
  }
}

Test(items, small_tensors_share_items) {
  uint64_t numel[100];
  for (int i = 0; i < 100; i++) {
    numel[i] = 768;
  }
  cr_assert_leq(rt_items_cut(numel_of, numel, 0, 100, NULL), 5);
}
