// Opening a BLAS: found, refused with a reason, or missing with advice.
#include "core/blas.h"
#include "core/team.h"

#include <criterion/criterion.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define FAKE STEPC_BUILD_DIR "/fake-blas"

Test(blas, opens_what_is_installed) {
  struct rt_blas *b;
  char why[1024];
  cr_assert_eq(rt_blas_open(&b, why, sizeof why), STEPRT_OK, "%s", why);
  cr_expect_str_empty(why);
  cr_expect(strncmp(rt_blas_name(b), "BLIS ", 5) == 0 ||
                strncmp(rt_blas_name(b), "OpenBLAS ", 9) == 0,
            "%s", rt_blas_name(b));
  rt_blas_close(b);
  rt_blas_close(NULL);
}

#define ADVICE                                                                           \
  "install libblis4-serial or libopenblas0-serial, or name the folder of libblis.so.4 "  \
  "or libopenblas.so.0 in STEPC_LIBRARY_PATH"
#define REFUSED                                                                          \
  "refused: " FAKE "/libblis.so.4, BLIS ? (?): computes wrong products on this CPU"

Test(blas, none_tells_what_to_install) {
  struct rt_blas *b;
  char why[1024];
  cr_expect_eq(rt_blas_open_in("", "/nowhere::", false, &b, why, sizeof why),
               STEPRT_NO_LIBRARY);
  cr_expect_null(b);
  cr_expect_str_eq(why, ADVICE);
}

Test(blas, wrong_products_are_refused) {
  struct rt_blas *b;
  char why[1024];
  cr_expect_eq(rt_blas_open_in(FAKE, "", false, &b, why, sizeof why), STEPRT_NO_LIBRARY);
  cr_expect_str_eq(why, ADVICE "; " REFUSED);
}

Test(blas, next_one_is_taken_after_a_refusal) {
  struct rt_blas *b;
  char why[1024];
  setenv("STEPC_LIBRARY_PATH", "/nowhere:" FAKE, 1);
  cr_assert_eq(rt_blas_open(&b, why, sizeof why), STEPRT_OK, "%s", why);
  cr_expect_str_eq(why, REFUSED);
  cr_expect_null(strstr(rt_blas_name(b), FAKE), "%s", rt_blas_name(b));
  rt_blas_close(b);
}

static int threads_met(const struct rt_blas *b) {
  union {
    void *object;
    int (*function)(void);
  } u = {.object = dlsym(b->library, "fake_threads_met")};
  return u.function();
}

// Serial builds of OpenBLAS without locks give wrong products where threads meet in them.
Test(blas, threads_never_meet_in_openblas) {
  enum { ROWS = 300, COLS = 280 };
  static const double abc[1][3] = {{3.4445, -4.7750, 2.0315}};
  static const struct rt_iteration it = {
      "one", RT_NORM_FROBENIUS, false, 1, 1e-7, 0, RT_F32, 1, abc};
  static float in[ROWS * COLS], out[ROWS * COLS];
  struct rt_blas *b;
  struct rt_team *team;
  char why[1024];
  in[0] = in[5] = 1;
  cr_assert_eq(
      rt_blas_open_in(STEPC_BUILD_DIR "/fake-openblas", "", false, &b, why, sizeof why),
      STEPRT_OK, "%s", why);
  cr_assert_eq(rt_team_new(4, &team), STEPRT_OK);
  void *scratch = malloc(rt_ortho_scratch(&it, ROWS, COLS, 4));
  const struct rt_matrices m = {in, RT_F32, out, 1, ROWS, COLS};
  rt_ortho(b, team, &it, &m, scratch);
  cr_expect_eq(threads_met(b), 0);
  cr_expect_neq(out[0], 0);
  free(scratch);
  rt_team_free(team);
  rt_blas_close(b);
}

Test(blas, file_that_is_no_library) {
  char folder[] = "/tmp/stepc-blas-XXXXXX", path[64], why[1024];
  struct rt_blas *b;
  cr_assert_not_null(mkdtemp(folder));
  snprintf(path, sizeof path, "%s/libopenblas.so.0", folder);
  FILE *f = fopen(path, "w");
  cr_assert_not_null(f);
  fputs("no library", f);
  fclose(f);
  cr_expect_eq(rt_blas_open_in(folder, "", false, &b, why, sizeof why),
               STEPRT_NO_LIBRARY);
  cr_expect_not_null(strstr(why, path), "%s", why);
  unlink(path);
  rmdir(folder);
}

Test(blas, advice_is_cut_to_the_buffer) {
  struct rt_blas *b;
  char why[20];
  memset(why, 'x', sizeof why);
  cr_expect_eq(rt_blas_open_in("", "", false, &b, why, sizeof why - 1),
               STEPRT_NO_LIBRARY);
  cr_expect_eq(strlen(why), sizeof why - 2);
  cr_expect_eq(why[sizeof why - 1], 'x');
}
