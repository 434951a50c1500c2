// plan.json, read: the order of its parts, head, events, digests. What the values mean is rt_plan_check's.
#include "plan/plan_read.h"

#include "file/escape.h"
#include "plan/names.h"
#include "plan/plan_check.h"
#include "plan/plan_json.h"
#include "plan/plan_write.h"
#include "plan/totals.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct plan_file {
  struct rt_plan plan; // first: what the caller has
  struct rt_pool pool; // of all that the plan refers to
};

uint32_t rt_plan_count(const struct json *items, const char *key) {
  uint32_t n = 0;
  for (uint32_t i = 0; i < json_size(items); i++) {
    const struct json *item = json_item(items, i);
    const struct json *list = json_kind(item) == JSON_OBJECT ? json_get(item, key) : NULL;
    n += list != NULL && json_kind(list) == JSON_ARRAY ? json_size(list) : 0;
  }
  return n; // at most JSON_MAX_VALUES
}

bool rt_plan_read_at(struct rt_reader *r, const struct json *v, const char *name,
                     struct rt_at *out) {
  size_t n = 0, digits = 0;
  const char *s = json_kind(v) == JSON_STRING ? json_string(v, &n) : "";
  *out = (struct rt_at){0};
  while (out->space < RT_N_SPACES) {
    size_t len = strlen(rt_space_names[out->space]);
    if (strncmp(s, rt_space_names[out->space], len) == 0 && s[len] == ' ') {
      s += len + 1;
      digits = strspn(s, "0123456789");
      break;
    }
    out->space++;
  }
  if (digits == 0 || digits > 16 || s[digits] != '\0' || (digits > 1 && *s == '0')) {
    return rt_reader_fail(r, v, "`%s` is no address like \"host 4096\"", name);
  }
  out->offset = strtoull(s, NULL, 10);
  return true;
}

// "slot 2 free", "summed"
bool rt_plan_read_event(struct plan_reader *p, const struct json *v,
                        struct rt_event *out) {
  size_t n = 0;
  const char *s = json_kind(v) == JSON_STRING ? json_string(v, &n) : "";
  char expected[RT_EVENT_TEXT], *end;
  bool of_slot = strncmp(s, "slot ", 5) == 0;
  unsigned long slot = of_slot ? strtoul(s + 5, &end, 10) : 0;
  const char *name = of_slot && *end == ' ' ? end + 1 : s;
  *out = (struct rt_event){rt_name_find(rt_event_names, RT_N_EVENT_KINDS, name),
                           slot < p->plan->n_slots ? (uint32_t)slot : 0};
  // What it is called must be what stands there: no signs, leading zeros, slots of events without.
  char shown[60];
  return (out->kind < RT_N_EVENT_KINDS && strcmp(rt_event_text(out, expected), s) == 0) ||
         rt_reader_fail(&p->r, v,
                        "an event of a plan with %u slots, like \"slot 0 free\" or "
                        "\"summed\", is not `%s`",
                        p->plan->n_slots, rt_escape(shown, sizeof shown, s, n));
}

static bool read_events(struct plan_reader *p, const struct json *root) {
  const struct json *list;
  void *items;
  if (p->plan->n_slots > RT_MAX_SLOTS) {
    return rt_reader_fail(&p->r, root, "%u slots, at most %d", p->plan->n_slots,
                          RT_MAX_SLOTS);
  }
  uint64_t n = (uint64_t)(p->plan->n_slots + 1) * RT_N_EVENT_KINDS;
  p->event_of = rt_pool_alloc(p->r.pool, n, sizeof *p->event_of);
  if (p->event_of == NULL) {
    return rt_reader_no_memory(&p->r);
  }
  if (!rt_reader_list(&p->r, root, "events", sizeof *p->plan->event, &list, &items,
                      &p->plan->n_events)) {
    return false;
  }
  struct rt_event *e = items;
  for (uint32_t i = 0; i < p->plan->n_events; i++) {
    if (!rt_plan_read_event(p, json_item(list, i), &e[i])) {
      return false;
    }
    uint32_t *id = rt_plan_event_of(p, &e[i]);
    if (*id != 0) {
      return rt_reader_fail(&p->r, json_item(list, i), "this event stands twice");
    }
    *id = i + 1;
  }
  p->plan->event = e;
  return true;
}

static bool read_notes(struct plan_reader *p, const struct json *root) {
  const struct json *list;
  void *items;
  if (!rt_reader_list(&p->r, root, "notes", sizeof *p->plan->note, &list, &items,
                      &p->plan->n_notes)) {
    return false;
  }
  const char **note = items;
  for (uint32_t i = 0; i < p->plan->n_notes; i++) {
    if (!rt_reader_string(&p->r, json_item(list, i), "notes", &note[i])) {
      return false;
    }
  }
  p->plan->note = note;
  return true;
}

static bool read_head(struct plan_reader *p, const struct json *root) {
  struct rt_reader *r = &p->r;
  const struct json *configuration, *memory;
  return rt_reader_format(r, root, "stepc-plan/1") &&
         rt_reader_object(
             r, root, NULL,
             "format digest agreed program configuration memory totals events "
             "notes params kernels units chunks init ops buckets") &&
         rt_reader_digest(r, root, "digest", p->plan->digest) &&
         rt_reader_digest(r, root, "agreed", p->plan->agreed) &&
         rt_reader_digest(r, root, "program", p->plan->program_digest) &&
         (configuration = rt_reader_get(r, root, "configuration", JSON_OBJECT)) != NULL &&
         rt_fields_read(r, configuration, &rt_configuration_fields, "",
                        &p->plan->configuration) &&
         (memory = rt_reader_get(r, root, "memory", JSON_OBJECT)) != NULL &&
         rt_fields_read(r, memory, &rt_memory_fields, "", p->plan);
}

static bool read_tail(struct plan_reader *p, const struct json *root) {
  const struct json *buckets, *totals;
  struct rt_plan_totals says, is = rt_plan_totals(p->plan);
  if ((buckets = rt_reader_get(&p->r, root, "buckets", JSON_ARRAY)) == NULL) {
    return false;
  }
  if (json_size(buckets) > 0) {
    return rt_reader_fail(&p->r, buckets, "this version has no buckets");
  }
  return (totals = rt_reader_get(&p->r, root, "totals", JSON_OBJECT)) != NULL &&
         rt_fields_read(&p->r, totals, &rt_totals_fields, "", &says) &&
         (memcmp(&says, &is, sizeof is) == 0 ||
          rt_reader_fail(&p->r, totals, "the totals are not those of this plan"));
}

static bool read_plan(struct plan_reader *p, const struct json *root) {
  static bool (*const parts[])(struct plan_reader *, const struct json *) = {
      read_head,           read_events,          read_notes,
      rt_plan_read_params, rt_plan_read_kernels, rt_plan_read_units,
      rt_plan_read_chunks, rt_plan_read_ops,     read_tail};
  p->plan->version = RT_PLAN_VERSION;
  for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
    p->r.what = NULL;
    if (!parts[i](p, root)) {
      return false;
    }
  }
  return true;
}

static steprt_status check_digests(const struct rt_plan *plan, char *why, size_t n_why) {
  char digest[65], agreed[65];
  if (!rt_plan_digest(plan, digest) || !rt_plan_agreed(plan, agreed)) {
    (void)snprintf(why, n_why, "out of memory");
    return STEPRT_NO_MEMORY;
  }
  bool same = strcmp(digest, plan->digest) == 0;
  if (same && strcmp(agreed, plan->agreed) == 0) {
    return STEPRT_OK;
  }
  (void)snprintf(why, n_why, "the plan was changed: its %s is %s, the text says %s",
                 same ? "agreed digest" : "digest", same ? agreed : digest,
                 same ? plan->agreed : plan->digest);
  return STEPRT_BAD_INPUT;
}

static steprt_status read_text(const char *text, uint64_t n, struct plan_file *f,
                               char *why, size_t n_why) {
  struct plan_reader p = {
      .r = {.text = text, .pool = &f->pool, .why = why, .n_why = n_why},
      .plan = &f->plan};
  struct json_doc *d = rt_reader_parse(&p.r, n);
  if (d == NULL) {
    return p.r.status;
  }
  bool ok = read_plan(&p, json_root(d));
  json_free(d);
  if (!ok) {
    return p.r.status;
  }
  steprt_status s = rt_plan_check(&f->plan, NULL, why, n_why);
  if (s != STEPRT_OK) {
    return s == STEPRT_BAD_PROGRAM ? STEPRT_BAD_INPUT : s;
  }
  return check_digests(&f->plan, why, n_why);
}

steprt_status rt_plan_from_json(const char *text, uint64_t n, struct rt_plan **out,
                                char *why, size_t n_why) {
  *out = NULL;
  struct plan_file *f = calloc(1, sizeof *f);
  if (f == NULL) {
    (void)snprintf(why, n_why, "out of memory");
    return STEPRT_NO_MEMORY;
  }
  steprt_status s = read_text(text, n, f, why, n_why);
  if (s == STEPRT_OK) {
    *out = &f->plan;
  } else {
    rt_plan_free(&f->plan);
  }
  return s;
}

void rt_plan_free(struct rt_plan *plan) {
  if (plan != NULL) {
    struct plan_file *f = (struct plan_file *)plan;
    rt_pool_free(&f->pool);
    free(f);
  }
}
