// Cubins, PTX and their table.
#include "tool/objects.h"

#include "base/clock.h"
#include "emit/nvrtc_cache.h"
#include "tool/plan_words.h"
#include "tool/table.h"

static struct str compiler_of(struct arena *a, const struct nvrtc *n) {
  return str_fmt(a, "NVRTC %s, %s", nvrtc_version(a, n).p,
                 str_escape(a, nvrtc_path(n)).p);
}

static enum exit_code compile(struct tool *t, const struct nvrtc *n, struct objects *o) {
  struct arena *a = t->arena;
  uint32_t n_kernels = o->text->n_kernels;
  struct nvrtc_source *source = ARENA_ARRAY(a, struct nvrtc_source, n_kernels);
  o->object = ARENA_ARRAY(a, struct nvrtc_object, n_kernels);
  for (uint32_t i = 0; i < n_kernels; i++) {
    source[i] = (struct nvrtc_source){o->text->kernel[i].file, o->text->kernel[i].source};
  }
  struct str note;
  struct cache cache = cache_open(a, &note);
  if (note.n != 0) {
    say(t, "%s", note.p);
  }
  double start = clock_now();
  bool fine = nvrtc_compile_cached(n, &cache, a, source, n_kernels, o->arch, o->object);
  o->seconds = clock_now() - start;
  for (uint32_t i = 0; !fine && i < n_kernels; i++) {
    if (o->object[i].fault.n != 0) { // the first: one reason suffices to end
      return internal_error(t, o->object[i].fault);
    }
  }
  return EXIT_OK;
}

enum exit_code objects_compile(struct tool *t, const struct cuda_text *text,
                               struct str arch, struct objects *out) {
  struct str why;
  struct nvrtc *n = nvrtc_open(t->arena, &why);
  if (n == NULL) {
    say(t, "cubins and PTX need NVRTC: %s", str_escape(t->arena, why).p);
    return EXIT_ENVIRONMENT;
  }
  enum exit_code code;
  if (!nvrtc_knows(n, arch)) {
    code = usage_error(
        t, str_fmt(t->arena, "NVRTC %s does not compile for `%s`; it does for %s",
                   nvrtc_version(t->arena, n).p, str_escape(t->arena, arch).p,
                   nvrtc_archs(t->arena, n).p));
  } else {
    *out = (struct objects){
        .text = text, .arch = arch, .compiler = compiler_of(t->arena, n)};
    code = compile(t, n, out);
  }
  nvrtc_close(n);
  return code;
}

// What ptxas says of the kernel of this file.
static struct nvrtc_usage usage_of(const struct objects *o, uint32_t i) {
  const struct nvrtc_object *x = &o->object[i];
  for (uint32_t k = 0; k < x->n_kernels; k++) {
    if (str_eq(x->kernel[k].kernel, o->text->kernel[i].name)) {
      return x->kernel[k];
    }
  }
  return (struct nvrtc_usage){0};
}

static struct str compile_time(struct arena *a, const struct nvrtc_object *o) {
  return o->cached ? STR("cached") : text_seconds(a, o->seconds);
}

struct str objects_table(struct arena *a, const struct objects *o) {
  struct table table = {.arena = a, .columns = "lrrrrrr"};
  TABLE_ROW(&table, STR("kernel"), STR("registers"), STR("shared"), STR("spilled"),
            STR("reads/elem"), STR("writes/elem"), STR("compile"));
  for (uint32_t i = 0; i < o->text->n_kernels; i++) {
    const struct cuda_kernel *k = &o->text->kernel[i];
    struct nvrtc_usage u = usage_of(o, i);
    TABLE_ROW(&table, k->name, str_fmt(a, "%u", u.registers),
              str_fmt(a, "%u B", u.shared),
              str_fmt(a, "%u B", u.spill_stores + u.spill_loads + u.stack),
              str_fmt(a, "%u B", k->bytes_read), str_fmt(a, "%u B", k->bytes_written),
              compile_time(a, &o->object[i]));
  }
  return str_fmt(a, "%.*s%u kernel%s for %s in %s: %s\n", STR_FMT(table_text(&table)),
                 o->text->n_kernels, plan_plural(o->text->n_kernels),
                 str_escape(a, o->arch).p, text_seconds(a, o->seconds).p, o->compiler.p);
}

struct str objects_json(struct arena *a, const struct objects *o) {
  struct buf b = buf_new(a);
  buf_puts(&b, "{\"arch\": ");
  buf_json(&b, o->arch);
  buf_puts(&b, ", \"compiler\": ");
  buf_json(&b, o->compiler);
  buf_printf(&b, ", \"seconds\": %s, \"kernels\": [\n", num_shortest(a, o->seconds).p);
  for (uint32_t i = 0; i < o->text->n_kernels; i++) {
    const struct cuda_kernel *k = &o->text->kernel[i];
    struct nvrtc_usage u = usage_of(o, i);
    buf_puts(&b, "  {\"kernel\": ");
    buf_json(&b, k->name);
    buf_puts(&b, ", \"file\": ");
    buf_json(&b, k->file);
    buf_printf(
        &b,
        ", \"registers\": %u, \"shared\": %u, \"stack\": %u, \"spill_stores\": %u, "
        "\"spill_loads\": %u, \"bytes_read\": %u, \"bytes_written\": %u, \"cached\": "
        "%s, \"seconds\": %s}%s\n",
        u.registers, u.shared, u.stack, u.spill_stores, u.spill_loads, k->bytes_read,
        k->bytes_written, o->object[i].cached ? "true" : "false",
        num_shortest(a, o->object[i].seconds).p, i + 1 < o->text->n_kernels ? "," : "");
  }
  buf_puts(&b, "]}\n");
  return buf_done(&b);
}
