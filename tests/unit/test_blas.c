// Opening a BLAS: found, refused with a reason, or missing with advice.
#include "core/blas.h"

#include <criterion/criterion.h>
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
