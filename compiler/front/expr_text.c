// Expressions back to text, with the fewest parentheses.
#include "front/ast.h"

// How tightly an expression binds, in the order of the grammar: expr < or < and < not < cmp < sum < prod < neg < prim.
enum level { L_EXPR, L_OR, L_AND, L_NOT, L_CMP, L_SUM, L_PROD, L_NEG, L_PRIM };

static enum level op_level(enum expr_op op) {
  switch (op) {
  case EOP_OR: return L_OR;
  case EOP_AND: return L_AND;
  case EOP_NOT: return L_NOT;
  case EOP_EQ:
  case EOP_NE:
  case EOP_LT:
  case EOP_LE:
  case EOP_GT:
  case EOP_GE:
  case EOP_GLOB: return L_CMP;
  case EOP_ADD:
  case EOP_SUB: return L_SUM;
  case EOP_MUL:
  case EOP_DIV: return L_PROD;
  case EOP_NEG: return L_NEG;
  case EOP_NONE: break;
  }
  return L_PRIM;
}

static enum level expr_level(const struct expr *e) {
  return e->kind == EXPR_IF ? L_EXPR : op_level(e->op);
}

static enum level tighter(enum level l) {
  return l < L_PRIM ? (enum level)(l + 1) : L_PRIM;
}

static void put(struct buf *b, const struct expr *e, enum level least);

static void put_call(struct buf *b, const struct expr *e) {
  buf_str(b, e->text);
  buf_char(b, '(');
  for (uint32_t i = 0; i < e->n_args; i++) {
    buf_puts(b, i == 0 ? "" : ", ");
    put(b, e->arg[i], L_EXPR);
  }
  buf_char(b, ')');
}

static void put_if(struct buf *b, const struct expr *e) {
  static const char *const words[] = {"if ", " then ", " else "};
  for (uint32_t i = 0; i < 3; i++) {
    buf_puts(b, words[i]);
    put(b, e->arg[i], L_EXPR);
  }
}

// Chains lean to the left; comparisons do not chain.
static void put_binary(struct buf *b, const struct expr *e) {
  enum level own = op_level(e->op);
  put(b, e->arg[0], own == L_CMP ? L_SUM : own);
  buf_printf(b, " %s ", expr_op_text(e->op));
  put(b, e->arg[1], tighter(own));
}

static void put_plain(struct buf *b, const struct expr *e) {
  switch (e->kind) {
  case EXPR_POISON: buf_puts(b, "<error>"); break;
  case EXPR_NUM:
  case EXPR_NAME:
  case EXPR_BOOL:
  case EXPR_INF: buf_str(b, e->text); break;
  case EXPR_STR:
    buf_char(b, '"');
    buf_str(b, e->text);
    buf_char(b, '"');
    break;
  case EXPR_CALL: put_call(b, e); break;
  case EXPR_PER: buf_puts(b, cls_name(e->per)); break;
  case EXPR_UNARY:
    buf_puts(b, e->op == EOP_NOT ? "not " : "-");
    put(b, e->arg[0], op_level(e->op));
    break;
  case EXPR_BINARY: put_binary(b, e); break;
  case EXPR_IF: put_if(b, e); break;
  }
}

static void put(struct buf *b, const struct expr *e, enum level least) {
  bool parens = expr_level(e) < least;
  buf_puts(b, parens ? "(" : "");
  put_plain(b, e);
  buf_puts(b, parens ? ")" : "");
}

struct str expr_text(struct arena *a, const struct expr *e) {
  struct buf b = buf_new(a);
  put(&b, e, L_EXPR);
  return buf_done(&b);
}
