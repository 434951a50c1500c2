// Digests of a plan.
#include "file/sha256.h"
#include "plan/fields.h"
#include "plan/plan_json.h"
#include "plan/plan_write.h"
#include "plan/program_json.h"

#include <stdlib.h>
#include <string.h>

// Hashes the text and frees it. False: memory ran out.
static bool hash(struct rt_text *t, char hex[65]) {
  uint64_t n;
  char *p = rt_text_done(t, &n);
  if (p == NULL) {
    return false;
  }
  struct sha256 s;
  sha256_init(&s);
  sha256_add(&s, p, n);
  sha256_hex(&s, hex);
  free(p);
  return true;
}

static void write_agreed_unit(struct rt_text *t, const struct rt_plan *plan, uint32_t i) {
  const struct rt_unit *u = &plan->unit[i];
  rt_text_line(t);
  rt_text_put(t, "{");
  rt_fields_write(t, &rt_unit_fields, u);
  for (uint32_t k = u->first; k < u->first + u->n; k++) {
    const struct rt_plan_param *p = &plan->param[plan->unit_param[k]];
    rt_text_comma(t);
    rt_text_string(t, p->name);
    rt_text_member_string(t, p->rule, p->label);
    rt_text_member_u64(t, "order", p->order);
  }
  rt_text_put(t, "}");
}

static void write_agreed_chunk(struct rt_text *t, const struct rt_plan *plan,
                               uint32_t i) {
  const struct rt_chunk *c = &plan->chunk[i];
  uint64_t bytes = 0;
  for (uint32_t u = c->first_unit; u < c->first_unit + c->n_units; u++) {
    bytes += plan->unit[u].bytes;
  }
  const uint64_t numbers[] = {c->first_unit, c->n_units, c->order, bytes};
  rt_text_line(t);
  for (size_t k = 0; k < sizeof numbers / sizeof *numbers; k++) {
    rt_text_comma(t);
    rt_text_u64(t, numbers[k]);
  }
}

static void write_agreed(struct rt_text *t, const struct rt_plan *plan) {
  struct rt_configuration c = plan->configuration;
  c.rank = 0;
  rt_fields_write(t, &rt_configuration_fields, &c);
  for (uint32_t i = 0; i < plan->n_units; i++) {
    write_agreed_unit(t, plan, i);
  }
  for (uint32_t i = 0; i < plan->n_chunks; i++) {
    write_agreed_chunk(t, plan, i);
  }
  for (uint32_t i = 0; i < plan->n_ops; i++) {
    const struct rt_op *op = &plan->op[i];
    if (op->kind == RT_OP_EXCHANGE) {
      rt_text_line(t);
      rt_text_member_u64(t, "exchange", op->chunk);
    }
  }
}

bool rt_plan_digest(const struct rt_plan *plan, char hex[65]) {
  struct rt_text t = {0};
  rt_plan_write(&t, plan, false);
  return hash(&t, hex);
}

bool rt_plan_agreed(const struct rt_plan *plan, char hex[65]) {
  struct rt_text t = {0};
  write_agreed(&t, plan);
  return hash(&t, hex);
}

bool rt_plan_seal(struct rt_plan *plan, const struct steprt_program *program) {
  if (program != NULL && program->digest[0] != '\0') {
    memcpy(plan->program_digest, program->digest, sizeof plan->program_digest);
  } else if (program != NULL && !rt_program_digest(program, plan->program_digest)) {
    return false;
  }
  return rt_plan_agreed(plan, plan->agreed) && rt_plan_digest(plan, plan->digest);
}
