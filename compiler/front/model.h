// The model: what the compiler is told about parameters (DESIGN section 5).
#ifndef STEPC_FRONT_MODEL_H
#define STEPC_FRONT_MODEL_H

#include "front/ast.h"

struct model_axis {
  struct str name;
  uint64_t size, stride;
};

struct model_place { // one entry of `place`: the axis shards that dimension; in order
  uint32_t axis, dim;
};

struct model_param {
  struct str name;    // expanded, unescaped bytes
  struct shape shape; // global
  enum storage dtype, grad;
  bool has_grad; // `grad` was given; else it is read from the gradient file, or is dtype
  bool frozen;
  uint32_t tied_to; // index of the parameter that it names again; UINT32_MAX: not tied
  bool has_order;
  uint64_t order;
  struct model_place *place;
  uint32_t n_places;
  struct str on_axis; // empty: not restricted
  uint64_t on_coord;
  struct str flat_axis; // empty: not flat
  uint64_t (*flat)[2];  // one element range per rank of the axis
  uint32_t n_flat;
};

struct model {
  struct str name, path;
  uint64_t world;
  struct model_axis *axis;
  uint32_t n_axes;
  struct model_param *param;
  uint32_t n_params;
};

// Reads `stepc-model/1` JSON, a .safetensors file, a folder of them or a model.safetensors.index.json. NULL when
// it is refused; the reason is in f->diags. Codes E05xx say that the content is wrong (exit 1), E00xx that a file
// cannot be read (exit 3).
//
// Beyond DESIGN section 5: a safetensors model holds its tensors in the order of their names, all of them F32, BF16
// or F16 (others are refused: E0516). In `order` and `on`, expressions over i, j, k have + - * / % and parentheses;
// / and % round down. Of mesh axes that share a stride the largest counts towards the default `world`, and
// size x stride of every axis divides `world`. The product of a shape's non-zero dimensions is at most 2^60.
struct model *model_read(struct front *f, struct str path);
// stepc-model/1 from memory; `path` is what messages show.
struct model *model_parse(struct front *f, struct str path, struct str text);

// A parameter as a caller of the library gives it. Its name stands for itself: braces are no ranges.
struct model_tensor {
  struct str name, dtype, grad, tied; // the last three may be empty
  const uint64_t *dim;
  uint32_t rank;
  bool frozen;
};
// The model of `n` of them, in that order, held to the same rules; messages have no place.
struct model *model_of_tensors(struct front *f, const struct model_tensor *t, uint32_t n);

uint64_t
model_numel(const struct model *m); // parameters counted once (tied names excluded)

#endif
