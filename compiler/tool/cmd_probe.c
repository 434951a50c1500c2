// stepc probe: how fast this machine's GPUs copy, for the planner's forecasts. Writes stepc-rates/1.
#include "tool/file.h"
#include "tool/table.h"
#include "tool/tool.h"

#include "device/cuda/probe.h"

static const uint64_t MOST = (uint64_t)1 << 30; // the largest copy

struct rates {
  uint32_t device;
  struct rt_gpus gpus;
  struct rt_probe probe;
};

// ---- JSON

static void put_rates(struct buf *b, const struct rt_rates *r) {
  buf_printf(b, "\"bytes\": %llu, \"load\": %.0f, \"store\": %.0f, \"both\": %.0f",
             (unsigned long long)r->bytes, r->load, r->store, r->both);
}

// Rates are bytes per second; `both` is the sum of the two ways at once, `device_copy` read plus written; `products` FLOP per
// second, 0 where there is no cuBLASLt.
static struct str rates_json(struct arena *a, const struct rates *r) {
  const struct rt_gpu *g = &r->gpus.gpu[r->device];
  struct buf b = buf_new(a);
  buf_puts(&b, "{\n  \"format\": \"stepc-rates/1\",\n  \"device\": { \"ordinal\": ");
  buf_printf(&b, "%u, \"name\": ", r->device);
  buf_json(&b, str_of(g->name));
  buf_puts(&b, ", \"bus\": ");
  buf_json(&b, str_of(g->bus));
  buf_printf(&b,
             ", \"arch\": \"sm_%d%d\", \"memory\": %llu, \"numa_node\": %d },\n"
             "  \"driver\": %d,\n  \"copies\": [\n",
             g->major, g->minor, (unsigned long long)g->memory, g->node, r->gpus.version);
  for (uint32_t i = 0; i < r->probe.n_rates; i++) {
    buf_puts(&b, "    { ");
    put_rates(&b, &r->probe.rate[i]);
    buf_puts(&b, i + 1 < r->probe.n_rates ? " },\n" : " }\n");
  }
  buf_printf(&b,
             "  ],\n  \"device_copy\": %.0f,\n  \"products\": %.0f,\n  \"all_devices\": ",
             r->probe.device_copy, r->probe.products);
  if (r->probe.n_all > 1) {
    buf_printf(&b, "{ \"devices\": %u, ", r->probe.n_all);
    put_rates(&b, &r->probe.all);
    buf_puts(&b, " }\n}\n");
  } else {
    buf_puts(&b, "null\n}\n");
  }
  return buf_done(&b);
}

// ---- a table

static struct str gib(struct arena *a, double bytes_per_second) {
  return str_fmt(a, "%.1f", bytes_per_second / (double)((uint64_t)1 << 30));
}

static void add_row(struct table *t, struct str what, const struct rt_rates *r) {
  TABLE_ROW(t, what, gib(t->arena, r->load), gib(t->arena, r->store),
            gib(t->arena, r->both));
}

static void print_table(struct tool *t, const struct rates *r) {
  const struct rt_gpu *g = &r->gpus.gpu[r->device];
  struct table table = {.arena = t->arena, .columns = "lrrr"};
  out_printf(t, "%s (sm_%d%d), %s, driver for CUDA %d.%d\n",
             str_escape(t->arena, str_of(g->name)).p, g->major, g->minor, g->bus,
             r->gpus.version / 1000, r->gpus.version % 1000 / 10);
  TABLE_ROW(&table, STR("copies of"), STR("to device"), STR("to host"),
            STR("both at once, GiB/s"));
  for (uint32_t i = 0; i < r->probe.n_rates; i++) {
    const struct rt_rates *row = &r->probe.rate[i];
    add_row(&table, str_fmt(t->arena, "%llu MiB", (unsigned long long)(row->bytes >> 20)),
            row);
  }
  if (r->probe.n_all > 1) {
    add_row(&table, str_fmt(t->arena, "each of %u GPUs at once", r->probe.n_all),
            &r->probe.all);
  }
  out_str(t, table_text(&table));
  out_printf(t, "On the device: %.2f TB/s read and written.\n",
             r->probe.device_copy * 1e-12);
  if (r->probe.products > 0) {
    out_printf(t, "Products of bf16 matrices: %.0f TFLOP/s.\n",
               r->probe.products * 1e-12);
  } else {
    out_printf(t, "Products were not measured: %s\n",
               str_escape(t->arena, str_of(r->probe.products_why)).p);
  }
}

// ---- the command

static enum exit_code refuse(struct tool *t, steprt_status s, const char *why) {
  say(t, "%s", str_escape(t->arena, str_of(why)).p);
  return s == STEPRT_BAD_ARGUMENT ? EXIT_USAGE : EXIT_ENVIRONMENT;
}

static enum exit_code cannot_write(struct tool *t, const char *path, struct str why) {
  say(t, "cannot write `%s`: %.*s", str_escape(t->arena, str_of(path)).p, STR_FMT(why));
  return EXIT_ENVIRONMENT;
}

enum exit_code cmd_probe(struct tool *t) {
  struct rates *r = ARENA_ARRAY(t->arena, struct rates, 1);
  const char *path = args_value(&t->args, OPT_RATES);
  char text[1024] = "";
  uint64_t device = 0;
  struct str why = STR("");
  if (args_has(&t->args, OPT_DEVICE) &&
      !option_u64(t, OPT_DEVICE, 0, RT_MAX_GPUS - 1, &device)) {
    return EXIT_USAGE;
  }
  if (path != NULL && !file_can_write(t->arena, str_of(path), &why)) {
    return cannot_write(t, path, why);
  }
  r->device = (uint32_t)device;
  steprt_status s = rt_gpus(&r->gpus, text, sizeof text);
  if (s == STEPRT_OK) {
    s = rt_probe((int32_t)device, MOST, &r->probe, text, sizeof text);
  }
  if (s != STEPRT_OK) {
    return refuse(t, s, text);
  }
  struct str json = rates_json(t->arena, r);
  if (path != NULL && !file_replace(t->arena, str_of(path), json, &why)) {
    return cannot_write(t, path, why);
  }
  if (args_has(&t->args, OPT_JSON)) {
    out_str(t, json);
  } else {
    print_table(t, r);
  }
  return EXIT_OK;
}
