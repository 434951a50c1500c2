// The syntax tree: what the text says, names as text, nothing resolved.
#ifndef STEPC_FRONT_AST_H
#define STEPC_FRONT_AST_H

#include "base/diag.h"
#include "front/types.h"

enum expr_kind {
  EXPR_POISON, // an error was reported here
  EXPR_NUM,
  EXPR_STR,
  EXPR_BOOL,
  EXPR_INF,
  EXPR_NAME,
  EXPR_CALL,
  EXPR_PER, // `per row` as an argument
  EXPR_UNARY,
  EXPR_BINARY,
  EXPR_IF, // arg[0] then arg[1] else arg[2]
};

enum expr_op {
  EOP_NONE,
  EOP_NEG,
  EOP_NOT,
  EOP_ADD,
  EOP_SUB,
  EOP_MUL,
  EOP_DIV,
  EOP_EQ,
  EOP_NE,
  EOP_LT,
  EOP_LE,
  EOP_GT,
  EOP_GE,
  EOP_GLOB,
  EOP_AND,
  EOP_OR,
};
const char *expr_op_text(enum expr_op op); // "+", "not", "~"

struct expr {
  enum expr_kind kind;
  enum expr_op op;
  struct span span;
  struct str text; // name, called name, string without quotes, digits as written
  double num;
  bool is_int; // NUM written without `.` and `e`
  bool truth;  // BOOL
  enum cls per;
  struct expr **arg;
  uint32_t n_args;
  // longest way down, 1 for a leaf; the parser bounds it, so that walks may recurse
  uint32_t height;
};

struct storage_ref {
  struct str name; // "f32", "q8", or a static of type storage
  struct span span;
  bool has_block;
  uint64_t block;
};

struct range {
  bool present, lo_open, hi_open;
  struct expr *lo, *hi;
  struct span span;
};

enum type_kind {
  TYPE_F32,
  TYPE_INT,
  TYPE_BOOL,
  TYPE_ITERATION,
  TYPE_STORAGE,
  TYPE_CHOICE,
  TYPE_POISON
};
struct type_ref {
  enum type_kind kind;
  struct span span;
  struct str *choice; // TYPE_CHOICE, in text order
  uint32_t n_choices;
};

enum stmt_kind {
  STMT_HYPER,
  STMT_STATIC,
  STMT_STATE,
  STMT_INPUT,
  STMT_REQUIRE,
  STMT_LET,
  STMT_UPDATE
};

struct stmt {
  enum stmt_kind kind;
  struct span span; // the whole statement
  struct str name;  // declared or updated name; empty for require
  struct span name_span;
  struct str as;        // hyper and state: the name torch users know; empty if none
  struct type_ref type; // hyper, static, input (its ID)
  struct expr *value;   // default, init, condition of require, right side; NULL if absent
  struct expr *when;    // NULL if absent
  struct range range;   // hyper
  struct storage_ref storage; // state
  bool has_shape;
  enum cls shape;   // state and input, when has_shape
  struct str round; // "nearest", "stochastic"; empty if absent
  struct span round_span;
};

struct optimizer {
  struct str name;
  struct span span, name_span;
  struct stmt **stmt;
  uint32_t n_stmts;
};

struct iter_line {
  double a, b, c;
  bool has_c;
  uint64_t repeat; // 1 where left out
  struct span span;
};

struct iteration_line {
  struct str word; // "normalize", "iter", ...
  struct span span;
};

enum iteration_norm { NORM_FROBENIUS, NORM_AOL };
enum iteration_form { FORM_STANDARD, FORM_GRAM, FORM_AUTO };
enum iteration_tail { TAIL_STOP, TAIL_CYCLE, TAIL_REPEAT };

struct iteration {
  struct str name;
  struct span span, name_span;
  enum iteration_norm norm;
  double safety, eps, floor; // defaults 1, 0, 0
  bool has_safety, has_eps, has_floor;
  struct str norm_in; // "f32", or empty: the cast operand
  struct span norm_in_span;
  enum storage compute;
  struct span compute_span;
  enum iteration_form form;
  uint64_t *restart;
  uint32_t n_restarts;
  bool has_steps;
  uint64_t steps;
  enum iteration_tail tail;
  struct iter_line *iter;
  uint32_t n_iters;
  struct iteration_line *line; // all of them in text order
  uint32_t n_lines;
  bool is_poison; // an error was reported in a line
};

enum view_kind {
  VIEW_SPLIT_ROWS,
  VIEW_SPLIT_COLS,
  VIEW_FLATTEN,
  VIEW_TRANSPOSED,
  VIEW_BLOCKWISE
};
enum cut_kind { CUT_LIST, CUT_EACH, CUT_GROUPS };
struct view {
  enum view_kind kind;
  enum cut_kind cut;
  uint64_t n;     // flatten N; each N; groups N
  uint64_t *size; // list; sizes in a group
  uint32_t n_sizes;
  struct span span;
};

enum keep_kind { KEEP_MASTER, KEEP_STORE };
struct keep {
  enum keep_kind kind;
  struct str state; // store
  struct storage_ref storage;
  struct str round; // store: "nearest", "stochastic"; empty if absent
  struct span span, state_span, round_span;
};

struct use_arg {
  struct str name;
  struct span name_span;
  struct expr *value;
};

struct use {
  struct str optimizer, label; // label empty: the default one
  struct span span, optimizer_span, label_span;
  struct use_arg *arg;
  uint32_t n_args;
  struct view *view;
  uint32_t n_views;
  struct keep *keep;
  uint32_t n_keeps;
  struct expr *when; // NULL: unconditional
};

enum recipe_item_kind { ITEM_HYPER, ITEM_CLIP, ITEM_SKIP, ITEM_USE };
struct recipe_item {
  enum recipe_item_kind kind;
  struct span span;
  struct stmt *hyper;
  struct expr *clip;
  struct use *use;
};

struct recipe {
  struct str name;
  struct span span, name_span;
  struct recipe_item *item;
  uint32_t n_items;
};

struct import {
  struct str path; // as written
  struct span span;
  uint32_t target; // index of the module, or UINT32_MAX when it could not be read
};

enum decl_kind { DECL_IMPORT, DECL_OPTIMIZER, DECL_ITERATION, DECL_RECIPE };
struct decl {
  enum decl_kind kind;
  struct span span;
  union {
    struct import import;
    struct optimizer *optimizer;
    struct iteration *iteration;
    struct recipe *recipe;
  };
};

// One file.
struct module {
  uint32_t file;
  uint64_t version;
  VEC(struct decl) decl;
};

// A root file and everything it imports, the root first, in order of first import.
struct program {
  VEC(struct module *) module;
};

struct front {
  struct arena *arena;
  struct sources *sources;
  struct diags *diags;
};

// How files are read, so that tests and the library can hand over texts. Returns false when it cannot be read;
// `why` then says so. Text is allocated on the arena.
struct file_reader {
  bool (*read)(void *ctx, struct arena *a, struct str path, struct str *text,
               struct str *why);
  void *ctx;
};
struct file_reader file_reader_disk(void);

// Parses `path` and, transitively, its imports. NULL only when the root cannot be read (reported as E0001, an
// environment error: exit 3). Syntax errors are in front->diags; the program then holds what could be parsed.
struct program *parse_program(struct front *f, struct str path,
                              struct file_reader reader);
struct module *parse_module(struct front *f, uint32_t file);

// The tree as text, one node a line, for --emit=ast and goldens.
struct str ast_print(struct arena *a, const struct module *m);
// Canonical form (idempotent, keeps comments). Only for a module that parsed without errors.
struct str fmt_module(struct arena *a, const struct sources *s, const struct module *m);
struct str expr_text(struct arena *a,
                     const struct expr *e); // canonical text of an expression

// Lookups over the whole program; NULL when absent. Names are unique over files (checked at load).
const struct optimizer *program_optimizer(const struct program *p, struct str name);
const struct iteration *program_iteration(const struct program *p, struct str name);
const struct recipe *program_recipe(const struct program *p, struct str name);

#endif
