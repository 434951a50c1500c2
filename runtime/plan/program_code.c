// Host code: [op, register, arguments] with an index or a number where the op has one.
#include "plan/program_code.h"

#include "plan/names.h"

static const struct host_op {
  const char *name;
  uint32_t n_args;
} host_ops[RT_N_HOST_OPS] = {
#define HOST_OP(id, n) {#id, n},
#include "core/host.def"
#undef HOST_OP
};

static bool has_out(uint32_t op) {
  return op != RT_HOST_OUT && op != RT_HOST_SET;
}
static bool has_index(uint32_t op) {
  return op == RT_HOST_HYPER || op == RT_HOST_STATE || op == RT_HOST_INPUT ||
         op == RT_HOST_OUT || op == RT_HOST_SET;
}

static void write_u64(struct rt_text *t, uint64_t x) {
  rt_text_comma(t);
  rt_text_u64(t, x);
}

static void write_ins(struct rt_text *t, const struct rt_host_ins *i) {
  rt_text_line(t);
  rt_text_put(t, "[");
  if (i->op < RT_N_HOST_OPS) {
    rt_text_string(t, host_ops[i->op].name);
    if (has_out(i->op)) {
      write_u64(t, i->out);
    }
    if (has_index(i->op)) {
      write_u64(t, i->index);
    }
    for (uint32_t a = 0; a < host_ops[i->op].n_args; a++) {
      write_u64(t, i->arg[a]);
    }
    if (i->op == RT_HOST_CONST) {
      rt_text_comma(t);
      rt_text_double(t, i->num);
    }
  }
  rt_text_put(t, "]");
}

void rt_code_write(struct rt_text *t, const char *key, const struct rt_host_ins *ins,
                   uint32_t n, uint32_t n_regs) {
  rt_text_key(t, key);
  if (ins == NULL || n == 0) {
    rt_text_put(t, "null");
    return;
  }
  rt_text_put(t, "{");
  rt_text_member_u64(t, "registers", n_regs);
  rt_text_key(t, "code");
  rt_text_put(t, "[");
  for (uint32_t i = 0; i < n; i++) {
    write_ins(t, &ins[i]);
  }
  rt_text_put(t, "]}");
}

static bool read_op(struct rt_reader *r, const struct json *v, uint32_t *op) {
  const char *names[RT_N_HOST_OPS];
  for (uint32_t i = 0; i < RT_N_HOST_OPS; i++) {
    names[i] = host_ops[i].name;
  }
  if (json_kind(v) != JSON_ARRAY || json_size(v) == 0) {
    return rt_reader_fail(r, v, "an instruction is [op, ...]");
  }
  return rt_reader_name(r, json_item(v, 0), "op", names, RT_N_HOST_OPS, op);
}

static bool read_ins(struct rt_reader *r, const struct json *v, struct rt_host_ins *i) {
  uint32_t op, at = 1;
  if (!read_op(r, v, &op)) {
    return false;
  }
  i->op = (uint8_t)op;
  uint32_t n = host_ops[op].n_args + 1;
  n += has_out(op) ? 1 : 0;
  n += has_index(op) || op == RT_HOST_CONST ? 1 : 0;
  if (json_size(v) != n) {
    return rt_reader_fail(r, v, "%s has %u parts, not %u", host_ops[op].name, n,
                          json_size(v));
  }
  if (has_out(op) && !rt_reader_u32(r, json_item(v, at++), "register", &i->out)) {
    return false;
  }
  if (has_index(op) && !rt_reader_u32(r, json_item(v, at++), "index", &i->index)) {
    return false;
  }
  for (uint32_t a = 0; a < host_ops[op].n_args; a++) {
    if (!rt_reader_u32(r, json_item(v, at++), "argument", &i->arg[a])) {
      return false;
    }
  }
  return op != RT_HOST_CONST || rt_reader_double(r, json_item(v, at), "number", &i->num);
}

bool rt_code_read(struct rt_reader *r, const struct json *obj, const char *key,
                  const struct rt_host_ins **ins, uint32_t *n, uint32_t *n_regs) {
  const struct json *v = json_get(obj, key), *registers, *list;
  void *items;
  *ins = NULL;
  *n = *n_regs = 0;
  if (v != NULL && json_kind(v) == JSON_NULL) {
    return true;
  }
  v = rt_reader_get(r, obj, key, JSON_OBJECT);
  if (v == NULL || !rt_reader_object(r, v, NULL, "registers code") ||
      (registers = rt_reader_get(r, v, "registers", JSON_NUMBER)) == NULL ||
      !rt_reader_u32(r, registers, "registers", n_regs) ||
      !rt_reader_list(r, v, "code", sizeof **ins, &list, &items, n)) {
    return false;
  }
  if (*n == 0) {
    return rt_reader_fail(r, list, "`code` is empty: `%s` is null then", key);
  }
  for (uint32_t i = 0; i < *n; i++) {
    if (!read_ins(r, json_item(list, i), (struct rt_host_ins *)items + i)) {
      return false;
    }
  }
  *ins = items;
  return true;
}
