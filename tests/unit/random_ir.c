// Values are numbered %x0, %x1, ...; numbers and bools are drawn from what exists already.
#include "random_ir.h"

#include "random.h"

struct generator {
  struct buf text;
  uint64_t seed;
  uint32_t n_values;
  VEC(uint32_t) number, flag; // values of type f32 elem, bool elem
};

static uint32_t pick(struct generator *g, const uint32_t *v, uint32_t n) {
  return v[random_below(&g->seed, n)];
}

static uint32_t number(struct generator *g) {
  return pick(g, g->number.v, g->number.n);
}

static uint32_t flag(struct generator *g) {
  return pick(g, g->flag.v, g->flag.n);
}

static void add_number(struct generator *g) {
  VEC_PUSH(g->text.arena, g->number, g->n_values);
  g->n_values++;
}

static void add_flag(struct generator *g) {
  VEC_PUSH(g->text.arena, g->flag, g->n_values);
  g->n_values++;
}

static void put_arithmetic(struct generator *g) {
  static const char *const one[] = {"neg", "abs", "sqrt", "rsqrt", "sign"};
  static const char *const two[] = {"add", "sub", "mul", "div", "min", "max"};
  uint32_t kind = (uint32_t)random_below(&g->seed, 8);
  uint32_t x = number(g), y = number(g), z = number(g), op = number(g);
  if (kind < 2) {
    buf_printf(&g->text, "  %%x%u = %s.f32 elem %%x%u\n", g->n_values, one[op % 5], x);
  } else if (kind < 6) {
    buf_printf(&g->text, "  %%x%u = %s.f32 elem %%x%u, %%x%u\n", g->n_values, two[op % 6],
               x, y);
  } else if (kind == 6) {
    buf_printf(&g->text, "  %%x%u = fma.f32 elem %%x%u, %%x%u, %%x%u\n", g->n_values, x,
               y, z);
  } else {
    buf_printf(&g->text, "  %%x%u = round.f32 elem bf16, %%x%u\n", g->n_values, x);
  }
  add_number(g);
}

static void put_flag(struct generator *g) {
  static const char *const compare[] = {"eq", "ne", "lt", "le", "gt", "ge"};
  static const char *const logic[] = {"and", "or"};
  uint32_t op = (uint32_t)random_below(&g->seed, 12);
  if (g->flag.n > 0 && random_below(&g->seed, 3) == 0) {
    uint32_t x = flag(g), y = flag(g);
    buf_printf(&g->text, "  %%x%u = %s.bool elem %%x%u, %%x%u\n", g->n_values,
               logic[op % 2], x, y);
  } else {
    uint32_t x = number(g), y = number(g);
    buf_printf(&g->text, "  %%x%u = %s.bool elem %%x%u, %%x%u\n", g->n_values,
               compare[op % 6], x, y);
  }
  add_flag(g);
}

static void put_where(struct generator *g) {
  uint32_t x = number(g), y = number(g), uniform = (uint32_t)random_below(&g->seed, 2);
  if (g->flag.n == 0 || random_below(&g->seed, 2) == 0) {
    buf_printf(&g->text, "  %%x%u = where.f32 elem %%c%u, %%x%u, %%x%u\n", g->n_values,
               uniform, x, y);
  } else {
    buf_printf(&g->text, "  %%x%u = where.f32 elem %%x%u, %%x%u, %%x%u\n", g->n_values,
               flag(g), x, y);
  }
  add_number(g);
}

static void put_leaf(struct generator *g, const char *load) {
  buf_printf(&g->text, "  %%x%u = %s\n", g->n_values, load);
  add_number(g);
}

static void put_head(struct generator *g, const char *const storage[4]) {
  buf_printf(&g->text,
             "ir random\nshape [64]\nparam %s\ngrad %s\nhypers lr\n"
             "state m %s elem\nstate v %s elem\nupdate\n",
             storage[0], storage[1], storage[2], storage[3]);
  buf_puts(&g->text, "  %lr = hyper.f64 group lr\n"
                     "  %step = step.f64 param\n"
                     "  %h0 = lt.hbool param %step, %lr\n"
                     "  %h1 = gt.hbool param %step, %lr\n"
                     "  %c0 = bool.bool param %h0\n"
                     "  %c1 = bool.bool param %h1\n"
                     "  %s = f32.f32 group %lr\n"
                     "  %clip = clip.f32 group\n"
                     "  %half = const.f32 group 0.5\n");
  put_leaf(g, "param.f32 elem");
  put_leaf(g, "grad.f32 elem");
  put_leaf(g, "state.f32 elem m");
  put_leaf(g, "state.f32 elem v");
  put_leaf(g, "mul.f32 elem %x1, %clip");
  put_leaf(g, "mul.f32 elem %x2, %s");
  put_leaf(g, "add.f32 elem %x3, %half");
}

static void put_store(struct generator *g, const char *store, const char *storage) {
  uint32_t value = g->n_values - 1 - (uint32_t)random_below(&g->seed, 2);
  while (g->number.n > 0 && g->number.v[g->number.n - 1] > value) {
    g->number.n--;
  }
  buf_printf(&g->text, "  %%x%u = round.f32 elem %s, %%x%u\n", g->n_values, storage,
             g->number.v[g->number.n - 1]);
  buf_printf(&g->text, "  %s%%x%u\n", store, g->n_values);
  g->n_values++;
}

struct str random_ir(struct arena *a, uint32_t n, uint64_t seed) {
  static const char *const names[] = {"f32", "bf16"};
  struct generator g = {.text = buf_new(a), .seed = seed};
  const char *storage[4];
  for (uint32_t i = 0; i < 4; i++) {
    storage[i] = names[random_below(&g.seed, 2)];
  }
  put_head(&g, storage);
  for (uint32_t i = 0; i < n; i++) {
    uint64_t kind = random_below(&g.seed, 8);
    if (kind < 5) {
      put_arithmetic(&g);
    } else if (kind == 5) {
      put_flag(&g);
    } else {
      put_where(&g);
    }
  }
  put_store(&g, "set_state elem m, ", storage[2]);
  put_store(&g, "set_state elem v, ", storage[3]);
  put_store(&g, "set_param elem ", storage[0]);
  return buf_done(&g.text);
}
