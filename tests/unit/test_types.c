// The algebra of shape classes, shapes and storages.
#include "front/types.h"

#include <criterion/criterion.h>

enum { N_CLASSES = CLS_ELEM + 1 };

// The larger of two classes, but a row with a column is a whole: the only broadcasting.
Test(types, row_with_col_is_like_param) {
  static const enum cls order[] = {CLS_GROUP, CLS_PARAM, CLS_MATRIX,
                                   CLS_ROW,   CLS_COL,   CLS_ELEM};
  for (int i = 0; i < N_CLASSES; i++) {
    for (int k = 0; k < N_CLASSES; k++) {
      bool crossed = (order[i] == CLS_ROW && order[k] == CLS_COL) ||
                     (order[i] == CLS_COL && order[k] == CLS_ROW);
      enum cls expected = crossed ? CLS_ELEM : order[i > k ? i : k];
      cr_expect_eq(cls_join(order[i], order[k]), expected, "%s with %s",
                   cls_name(order[i]), cls_name(order[k]));
    }
  }
}

Test(types, a_value_fits_its_class_and_larger_ones) {
  cr_expect(cls_fits(CLS_GROUP, CLS_PARAM));
  cr_expect(cls_fits(CLS_MATRIX, CLS_ROW));
  cr_expect(cls_fits(CLS_ROW, CLS_ROW));
  cr_expect(cls_fits(CLS_COL, CLS_ELEM));
  cr_expect_not(cls_fits(CLS_ROW, CLS_COL));
  cr_expect_not(cls_fits(CLS_COL, CLS_ROW));
  cr_expect_not(cls_fits(CLS_PARAM, CLS_GROUP));
  cr_expect_not(cls_fits(CLS_ELEM, CLS_ROW));
}

Test(types, shapes_count_matrices) {
  struct arena *a = arena_new(0);
  struct shape stack = {4, {3, 5, 7, 11}}, vector = {1, {9}}, scalar = {0};
  cr_expect_eq(shape_numel(&stack), 3 * 5 * 7 * 11);
  cr_expect_eq(shape_batch(&stack), 15);
  cr_expect_eq(shape_rows(&stack), 7);
  cr_expect_eq(shape_cols(&stack), 11);
  cr_expect_eq(shape_numel(&scalar), 1);
  cr_expect(str_is(shape_text(a, &stack), "[3, 5, 7, 11]"));
  cr_expect(str_is(shape_text(a, &scalar), "[]"));
  cr_expect(shape_eq(&vector, &(struct shape){1, {9}}));
  cr_expect_not(shape_eq(&vector, &(struct shape){2, {9, 1}}));
  cr_expect_not(shape_eq(&vector, &(struct shape){1, {8}}));
  arena_free(a);
}

Test(types, storages_have_names_and_sizes) {
  static const struct {
    const char *name;
    uint32_t bytes;
  } cases[] = {{"f32", 4},    {"bf16", 2}, {"f16", 2}, {"f8e4m3", 1},
               {"f8e5m2", 1}, {"q8", 1},   {"q8u", 1}};
  for (uint32_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    enum storage s;
    cr_assert(storage_find(str_of(cases[i].name), &s), "%s", cases[i].name);
    cr_expect_str_eq(storage_name(s), cases[i].name);
    cr_expect_eq(storage_bytes(s), cases[i].bytes);
  }
  enum storage s;
  cr_expect_not(storage_find(STR("f64"), &s));
  cr_expect_not(storage_find(STR(""), &s));
}
