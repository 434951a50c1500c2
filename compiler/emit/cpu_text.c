// Banners and tags in LLVM's text, line by line.
//
// Values are named after their label in the IR text and the lane, "m.6.v0" (cpu_body.c), so the tag of a line is
// what stands before the first dot of its result, or of what it stores.
#include "emit/cpu_text.h"

#include <string.h>

enum { TAG_COLUMN = 96 };

struct annotator {
  struct arena *arena;
  struct buf out;
  const struct sources *sources;
  const struct kernels *kernels;
  const char *comment;
  struct str file; // of the kernel at hand: the tag's first half
  bool assembly;
};

static struct str base_name(struct str path) {
  for (size_t i = path.n; i-- > 0;) {
    if (path.p[i] == '/') {
      return (struct str){path.p + i + 1, path.n - i - 1};
    }
  }
  return path;
}

// The spec file that the kernel's statements come from, without its folder.
static struct str file_of(const struct annotator *t, const struct kernel *k) {
  const struct phase *ph = &k->phases->phase[k->phase];
  for (uint32_t i = 0; i < ph->n_ins; i++) {
    uint32_t file = ir_at(k->phases->ir, ph->ins[i])->span.file;
    if (file < t->sources->file.n) {
      return str_escape(t->arena, base_name(t->sources->file.v[file].path));
    }
  }
  return str_escape(t->arena, k->phases->ir->name);
}

static void put_slots(struct annotator *t, const struct kernel *k, bool written) {
  const char *between = " (";
  for (uint32_t i = 0; i < k->n_slots; i++) {
    const struct kernel_slot *s = &k->slot[i];
    if (written ? s->written : s->read) {
      buf_printf(&t->out, "%s%.*s %s%s", between, STR_FMT(str_escape(t->arena, s->name)),
                 storage_name(s->storage),
                 written && s->streams ? " past the caches" : "");
      between = ", ";
    }
  }
  buf_puts(&t->out, *between == ',' ? ")" : "");
}

static void put_banner(struct annotator *t, const struct kernel *k) {
  const struct phases *p = k->phases;
  uint32_t ordinal = 0, n = 0;
  for (uint32_t i = 0; i < p->n_phases; i++) {
    ordinal += i < k->phase && p->phase[i].kind != PHASE_HOST;
    n += p->phase[i].kind != PHASE_HOST;
  }
  t->file = file_of(t, k);
  buf_printf(&t->out, "\n%s %.*s: rule %.*s, phase %u of %u\n", t->comment,
             STR_FMT(t->file), STR_FMT(str_escape(t->arena, p->ir->name)), ordinal + 1,
             n);
  buf_printf(&t->out, "%s per element: reads %u bytes", t->comment, k->bytes_read);
  put_slots(t, k, false);
  buf_printf(&t->out, ", writes %u", k->bytes_written);
  put_slots(t, k, true);
  buf_char(&t->out, '\n');
}

static bool line_has(struct str line, const char *word) {
  size_t n = strlen(word);
  for (size_t i = 0; i + n <= line.n; i++) {
    if (memcmp(line.p + i, word, n) == 0) {
      return true;
    }
  }
  return false;
}

// Does this line open the function `name`? "define void @name(" or, in assembly, "name:".
static bool opens(const struct annotator *t, struct str line, struct str name) {
  if (t->assembly) {
    return line.n > name.n && memcmp(line.p, name.p, name.n) == 0 &&
           line.p[name.n] == ':';
  }
  return str_starts(line, "define ") &&
         line_has(line, str_cstr(t->arena, str_fmt(t->arena, "@%.*s(", STR_FMT(name))));
}

static void put_banner_of(struct annotator *t, struct str line) {
  for (uint32_t i = 0; i < t->kernels->list.n; i++) {
    const struct kernel *k = t->kernels->list.v[i];
    struct str ends = str_fmt(t->arena, "%.*s.ends", STR_FMT(k->name));
    if (opens(t, line, k->name)) {
      put_banner(t, k);
    } else if (!t->assembly &&
               opens(t, line, str_fmt(t->arena, "\"%.*s\"", STR_FMT(ends)))) {
      t->file = file_of(t, k);
    } else if (opens(t, line, ends)) {
      t->file = file_of(t, k);
      buf_printf(&t->out, "\n%s %.*s, one element at a time: what is left of a block\n",
                 t->comment, STR_FMT(k->name));
    }
  }
}

// The spec name in "%m.6.v0 = ..." or "store ... %m.6.v0, ptr ..."; empty: none.
static struct str tag_of(struct str line) {
  bool is_value = str_starts(line, "  %"), is_store = str_starts(line, "  store ");
  const char *at = is_value || is_store ? memchr(line.p, '%', line.n) : NULL;
  if (at == NULL) {
    return STR("");
  }
  const char *first = at + 1, *end = line.p + line.n, *p = first;
  while (p < end && *p != '.' && *p != ' ' && *p != ',') {
    p++;
  }
  return p < end && *p == '.' ? (struct str){first, (size_t)(p - first)} : STR("");
}

static void put_line(struct annotator *t, struct str line) {
  if (str_starts(line, "; Function Attrs:")) {
    return; // it would stand between banner and function
  }
  put_banner_of(t, line);
  buf_str(&t->out, line);
  struct str tag = t->assembly ? STR("") : tag_of(line);
  if (tag.n != 0) {
    buf_pad(&t->out, TAG_COLUMN);
    buf_printf(&t->out, " ; %.*s: %.*s", STR_FMT(t->file), STR_FMT(tag));
  }
  buf_char(&t->out, '\n');
}

struct str cpu_text_annotate(struct arena *a, const struct sources *sources,
                             const struct kernels *k, struct str cpu, struct str text,
                             bool assembly) {
  struct annotator t = {.arena = a,
                        .out = buf_new(a),
                        .sources = sources,
                        .kernels = k,
                        .comment = assembly ? "#" : ";",
                        .assembly = assembly};
  buf_printf(&t.out, "%s Generated by stepc for the CPU %.*s: %u kernels.\n", t.comment,
             STR_FMT(str_escape(a, cpu)), k->list.n);
  for (size_t i = 0; i < text.n;) {
    const char *end = memchr(text.p + i, '\n', text.n - i);
    size_t n = end != NULL ? (size_t)(end - (text.p + i)) : text.n - i;
    put_line(&t, (struct str){text.p + i, n});
    i += n + 1;
  }
  return buf_done(&t.out);
}
