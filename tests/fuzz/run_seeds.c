// Runs a harness once on each file of the folders that are named: the corpus as a test, without libFuzzer.
#include "fuzz/fuzz.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int run_file(const char *folder, const char *name) {
  char path[1024];
  if (snprintf(path, sizeof path, "%s/%s", folder, name) >= (int)sizeof path) {
    return 0;
  }
  FILE *f = fopen(path, "rb");
  if (f == NULL) {
    return 0;
  }
  static const size_t max = 1 << 20;
  uint8_t *data = malloc(max);
  size_t n = data == NULL ? 0 : fread(data, 1, max, f);
  (void)fclose(f);
  // Exactly n bytes, so that a read past the end is seen.
  uint8_t *exact = data == NULL ? NULL : realloc(data, n == 0 ? 1 : n);
  if (exact == NULL) {
    free(data);
    return 0;
  }
  (void)LLVMFuzzerTestOneInput(exact, n);
  free(exact);
  return 1;
}

int main(int argc, char **argv) {
  int n = 0;
  for (int i = 1; i < argc; i++) {
    DIR *d = opendir(argv[i]);
    for (struct dirent *e; d != NULL && (e = readdir(d)) != NULL;) {
      n += e->d_name[0] == '.' ? 0 : run_file(argv[i], e->d_name);
    }
    if (d != NULL) {
      (void)closedir(d);
    }
  }
  (void)printf("%d files\n", n);
  return n == 0; // a corpus that is not found is a failure
}
