// plan.json, written: the tables of a plan in the order of struct rt_plan, a line each.
#include "plan/plan_write.h"

#include "plan/fields.h"
#include "plan/names.h"
#include "plan/plan_json.h"
#include "plan/program_code.h"
#include "plan/totals.h"

static void write_object(struct rt_text *t, const char *key, const struct rt_fields *f,
                         const void *base) {
  rt_text_line(t);
  rt_text_string(t, key);
  rt_text_put(t, ": {");
  rt_fields_write(t, f, base);
  rt_text_put(t, "}");
}

static void write_u64s(struct rt_text *t, const char *key, const uint64_t *x,
                       uint32_t n) {
  rt_text_key(t, key);
  rt_text_put(t, "[");
  for (uint32_t i = 0; i < n; i++) {
    rt_text_comma(t);
    rt_text_u64(t, x[i]);
  }
  rt_text_put(t, "]");
}

static void write_state(struct rt_text *t, const struct rt_state_home *s) {
  rt_text_comma(t);
  rt_text_put(t, "[");
  rt_text_string(t, s->name);
  rt_text_comma(t);
  rt_text_string(t, s->storage < RT_N_STORAGES ? rt_storage_names[s->storage] : "");
  rt_text_comma(t);
  rt_plan_write_at(t, s->at);
  rt_text_comma(t);
  rt_text_u64(t, s->bytes);
  rt_text_put(t, "]");
}

static void write_params(struct rt_text *t, const struct rt_plan *plan) {
  rt_text_open_list(t, "params");
  for (uint32_t i = 0; i < plan->n_params; i++) {
    const struct rt_plan_param *p = &plan->param[i];
    rt_text_open_item(t, "param", i);
    rt_fields_write(t, &rt_param_fields, p);
    write_u64s(t, "shape", p->dim, p->rank);
    write_u64s(t, "start", p->start, p->rank);
    rt_text_key(t, "states");
    rt_text_put(t, "[");
    for (uint32_t s = p->first_state; s < p->first_state + p->n_states; s++) {
      write_state(t, &plan->state[s]);
    }
    rt_text_put(t, "]}");
  }
  rt_text_put(t, "]");
}

static void write_kernels(struct rt_text *t, const struct rt_plan *plan) {
  rt_text_open_list(t, "kernels");
  for (uint32_t i = 0; i < plan->n_kernels; i++) {
    const struct rt_kernel_info *k = &plan->kernel[i];
    rt_text_open_item(t, "kernel", i);
    rt_fields_write(t, &rt_kernel_fields, k);
    rt_pointers_write(t, k->access, k->n_ptrs);
    rt_text_put(t, "}");
  }
  rt_text_put(t, "]");
}

static void write_units(struct rt_text *t, const struct rt_plan *plan) {
  rt_text_open_list(t, "units");
  for (uint32_t i = 0; i < plan->n_units; i++) {
    const struct rt_unit *u = &plan->unit[i];
    rt_text_open_item(t, "unit", i);
    rt_fields_write(t, &rt_unit_fields, u);
    rt_text_key(t, "params");
    rt_text_put(t, "[");
    for (uint32_t p = u->first; p < u->first + u->n; p++) {
      rt_text_comma(t);
      rt_text_u64(t, plan->unit_param[p]);
    }
    rt_text_put(t, "]}");
  }
  rt_text_put(t, "]");
}

static void write_chunks(struct rt_text *t, const struct rt_plan *plan) {
  rt_text_open_list(t, "chunks");
  for (uint32_t i = 0; i < plan->n_chunks; i++) {
    rt_text_open_item(t, "chunk", i);
    rt_fields_write(t, &rt_chunk_fields, &plan->chunk[i]);
    rt_text_put(t, "}");
  }
  rt_text_put(t, "]");
}

static void write_texts(struct rt_text *t, const struct rt_plan *plan) {
  rt_text_open_list(t, "events");
  for (uint32_t i = 0; i < plan->n_events; i++) {
    char buf[RT_EVENT_TEXT];
    rt_text_comma(t);
    rt_text_string(t, rt_event_text(&plan->event[i], buf));
  }
  rt_text_put(t, "]");
  rt_text_open_list(t, "notes");
  for (uint32_t i = 0; i < plan->n_notes; i++) {
    rt_text_line(t);
    rt_text_string(t, plan->note[i]);
  }
  rt_text_put(t, "]");
}

static void write_line(struct rt_text *t, const char *key, const char *value) {
  rt_text_line(t);
  rt_text_string(t, key);
  rt_text_put(t, ": ");
  rt_text_string(t, value);
}

void rt_plan_write(struct rt_text *t, const struct rt_plan *plan, bool with_digest) {
  const struct rt_plan_totals totals = rt_plan_totals(plan);
  rt_text_put(t, "{");
  write_line(t, "format", "stepc-plan/1");
  if (with_digest) {
    write_line(t, "digest", plan->digest);
  }
  write_line(t, "agreed", plan->agreed);
  write_line(t, "program", plan->program_digest);
  write_object(t, "configuration", &rt_configuration_fields, &plan->configuration);
  write_object(t, "memory", &rt_memory_fields, plan);
  write_object(t, "totals", &rt_totals_fields, &totals);
  write_texts(t, plan);
  write_params(t, plan);
  write_kernels(t, plan);
  write_units(t, plan);
  write_chunks(t, plan);
  rt_plan_write_ops(t, plan, "init", plan->init, plan->n_init);
  rt_plan_write_ops(t, plan, "ops", plan->op, plan->n_ops);
  rt_text_open_list(t, "buckets");
  rt_text_put(t, "]\n}\n");
}

char *rt_plan_to_json(const struct rt_plan *plan, uint64_t *n) {
  struct rt_text t = {0};
  rt_plan_write(&t, plan, true);
  return rt_text_done(&t, n);
}
