// Bundles: written whole or not at all, read back with every size and digest checked.
#include "plan/bundle.h"
#include "plan/plan_json.h"
#include "plan/program_json.h"
#include "support/hand_plan.h"
#include "tempdir.h"

#include <criterion/criterion.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static struct tempdir dir;
static struct hand hand;
static char path[400], why[480];

static void begin(void) {
  dir = tempdir_new();
  (void)tempdir_join(&dir, "bundle", path);
  hand_make_cuda(&hand);
  *why = '\0';
}
static void end(void) {
  tempdir_remove(&dir);
}
TestSuite(bundle, .init = begin, .fini = end);

static const char *inside(const char *name) {
  static char file[500];
  (void)snprintf(file, sizeof file, "%s/%s", path, name);
  return file;
}

static void write_good(void) {
  cr_assert_eq(rt_bundle_write(&hand.program, path, why, sizeof why), STEPRT_OK, "%s",
               why);
}

static void expect_refused(steprt_status s, const char *text) {
  struct rt_bundle *b;
  cr_expect_eq(rt_bundle_read(path, &b, why, sizeof why), s, "%s", why);
  cr_expect(strstr(why, text) != NULL, "`%s` is not in `%s`", text, why);
  cr_expect_null(b);
}

// The first `from` in a file of the bundle becomes `to`.
static void edit(const char *name, const char *from, const char *to) {
  FILE *f = fopen(inside(name), "rb");
  cr_assert_not_null(f);
  static char text[1 << 20];
  size_t n = fread(text, 1, sizeof text - 1, f);
  (void)fclose(f);
  text[n] = '\0';
  char *at = strstr(text, from);
  cr_assert_not_null(at, "%s", from);
  f = fopen(inside(name), "wb");
  cr_assert_not_null(f);
  (void)fwrite(text, 1, (size_t)(at - text), f);
  (void)fputs(to, f);
  (void)fputs(at + strlen(from), f);
  (void)fclose(f);
}

Test(bundle, a_round_trip_gives_the_same_program_and_plan) {
  struct rt_bundle *b;
  uint64_t n, m;
  write_good();
  cr_assert_eq(rt_bundle_read(path, &b, why, sizeof why), STEPRT_OK, "%s", why);
  char *was = rt_program_to_json(&hand.program, &n),
       *is = rt_program_to_json(b->program, &m);
  cr_assert(n == m && memcmp(was, is, n) == 0);
  free(was);
  free(is);
  was = rt_plan_to_json(&hand.plan, &n);
  is = rt_plan_to_json(b->program->plan, &m);
  cr_assert(n == m && memcmp(was, is, n) == 0);
  free(was);
  free(is);
  const struct rt_kernel *k = &b->program->kernel[HAND_UPDATE];
  cr_assert_eq(((const char *)k->image)[k->image_bytes], '\0'); // as PTX has it
  cr_assert_eq(k->image_bytes, hand.program_kernel[HAND_UPDATE].image_bytes);
  cr_assert(memcmp(k->image,
                   "\x7f"
                   "ELF",
                   4) == 0);
  rt_bundle_free(b);
}

Test(bundle, replaces_a_bundle_and_nothing_else) {
  struct rt_bundle *b;
  write_good();
  hand.program_kernel[0].registers = 77;
  write_good();
  cr_assert_eq(tempdir_count(&dir), 1); // nothing beside it
  cr_assert_eq(rt_bundle_read(path, &b, why, sizeof why), STEPRT_OK, "%s", why);
  cr_assert_eq(b->program->kernel[0].registers, 77);
  rt_bundle_free(b);
  int fd = open(inside("notes.txt"), O_WRONLY | O_CREAT, 0600);
  cr_assert(fd >= 0 && close(fd) == 0);
  cr_assert_eq(rt_bundle_write(&hand.program, path, why, sizeof why), STEPRT_IO);
  cr_assert(strstr(why, "something stands there that is no bundle") != NULL, "%s", why);
  cr_assert_eq(tempdir_count(&dir), 1);
  cr_assert_eq(access(inside("notes.txt"), F_OK), 0);
}

Test(bundle, what_cannot_be_written_leaves_nothing) {
  hand.program_kernel[2].image = NULL;
  cr_expect_eq(rt_bundle_write(&hand.program, path, why, sizeof why),
               STEPRT_BAD_ARGUMENT);
  cr_expect(strstr(why, "`adam`: it was not compiled") != NULL, "%s", why);
  hand_make_cuda(&hand);
  hand.program_kernel[2].name = "../adam";
  cr_expect_eq(rt_bundle_write(&hand.program, path, why, sizeof why),
               STEPRT_BAD_ARGUMENT);
  hand_make_cuda(&hand);
  hand.program_kernel[2].name = hand.program_kernel[1].name;
  cr_expect_eq(rt_bundle_write(&hand.program, path, why, sizeof why),
               STEPRT_BAD_ARGUMENT);
  cr_expect(strstr(why, "two kernels have this name") != NULL, "%s", why);
  hand_make(&hand);
  cr_expect_eq(rt_bundle_write(&hand.program, path, why, sizeof why),
               STEPRT_BAD_ARGUMENT);
  cr_expect(strstr(why, "machine code for the CPU") != NULL, "%s", why);
  hand_make_cuda(&hand);
  cr_expect_eq(rt_bundle_write(&hand.program, "/nowhere/bundle", why, sizeof why),
               STEPRT_IO);
  cr_expect_eq(tempdir_count(&dir), 0);
}

Test(bundle, each_bad_file_is_named) {
  expect_refused(STEPRT_IO, "bundle: No such file");
  write_good();
  cr_assert_eq(truncate(inside("adam.cubin"), 5), 0);
  expect_refused(STEPRT_BAD_INPUT, "adam.cubin: its size is not");
  write_good();
  edit("update.cubin", "device", "DEVICE");
  expect_refused(STEPRT_BAD_INPUT, "update.cubin: its digest is not");
  write_good();
  cr_assert_eq(unlink(inside("seed.cubin")), 0);
  expect_refused(STEPRT_IO, "seed.cubin: No such file");
  cr_assert_eq(symlink("adam.cubin", inside("seed.cubin")), 0);
  expect_refused(STEPRT_IO, "seed.cubin: a symbolic link");
  cr_assert_eq(unlink(inside("seed.cubin")), 0);
  cr_assert_eq(mkfifo(inside("seed.cubin"), 0600), 0);
  expect_refused(STEPRT_IO, "seed.cubin: not a regular file");
  cr_assert_eq(unlink(inside("seed.cubin")), 0);
  write_good(); // over one that lacks a kernel
  cr_assert_eq(unlink(inside("plan.json")), 0);
  expect_refused(STEPRT_IO, "plan.json: No such file");
}

Test(bundle, each_bad_text_is_named) {
  write_good();
  edit("program.json", "\"adam.cubin\"", "\"../adam.cubin\"");
  expect_refused(STEPRT_BAD_INPUT, "`file` is no plain name");
  write_good();
  edit("program.json", "\"adam.cubin\"", "\".hidden\"");
  expect_refused(STEPRT_BAD_INPUT, "`file` is no plain name");
  write_good();
  edit("program.json", "\"value\": 0.02", "\"value\": 0.03");
  expect_refused(STEPRT_BAD_INPUT,
                 "program.json: line 3, column 9: the program was changed: its seal is");
  write_good();
  edit("program.json", "\"eps\": 1e-07", "\"eps\": 1e-06");
  expect_refused(STEPRT_BAD_INPUT, "the program was changed: its digest is");
  write_good();
  edit("plan.json", "\"ahead\": 4", "\"ahead\": 5");
  expect_refused(STEPRT_BAD_INPUT, "plan.json: the plan was changed");
}

Test(bundle, a_plan_of_another_program_is_refused) {
  write_good();
  char other[64];
  memcpy(other, hand.plan.program_digest, sizeof other);
  other[0] = other[0] == '0' ? '1' : '0';
  memcpy(hand.plan.program_digest, other, sizeof other);
  cr_assert(rt_plan_seal(&hand.plan, NULL));
  write_good();
  expect_refused(STEPRT_BAD_INPUT, "plan.json: the plan is of another program");
}

Test(bundle, one_for_the_cpu_is_refused) {
  write_good();
  hand_make(&hand);
  uint64_t n;
  char *text = rt_program_to_json(&hand.program, &n);
  FILE *f = fopen(inside("program.json"), "wb");
  cr_assert(f != NULL && fwrite(text, 1, n, f) == n && fclose(f) == 0);
  free(text);
  expect_refused(STEPRT_BAD_INPUT, "program.json: it is for the CPU");
}

Test(bundle, open_says_what_is_wrong_with_it) {
  struct steprt *rt;
  cr_expect_eq(steprt_open_bundle(NULL, NULL, &rt), STEPRT_BAD_ARGUMENT);
  cr_expect_str_eq(steprt_error(rt), "open_bundle: no folder");
  steprt_destroy(rt);
  cr_expect_eq(steprt_open_bundle(path, NULL, &rt), STEPRT_IO);
  cr_expect(strstr(steprt_error(rt), "No such file") != NULL, "%s", steprt_error(rt));
  steprt_destroy(rt);
  cr_expect_eq(steprt_open_bundle(path, NULL, NULL), STEPRT_BAD_ARGUMENT);
  // A good one gets as far as the device, which is not here or does not take these images.
  write_good();
  cr_expect_neq(steprt_open_bundle(path, NULL, &rt), STEPRT_OK);
  cr_expect(*steprt_error(rt) != '\0' && strstr(steprt_error(rt), "bundle") == NULL, "%s",
            steprt_error(rt));
  steprt_destroy(rt);
}
