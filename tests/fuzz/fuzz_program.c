// Any bytes as program.json: refused with a reason, or a program with plain names of files whose seal can be made, and
// which steprt_open refuses or takes.
#include "fuzz/fuzz.h"
#include "plan/program_json.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static void check(bool ok) {
  if (!ok) {
    abort();
  }
}

static void check_program(struct steprt_program *p, const struct rt_image_ref *images) {
  struct steprt *rt = NULL;
  char seal[65];
  for (uint32_t i = 0; i < p->n_kernels; i++) {
    check(strchr(images[i].file, '/') == NULL && images[i].file[0] != '.');
  }
  check(rt_program_seal(p, images, seal));
  const struct steprt_options o = {.size = sizeof o, .threads = 1};
  steprt_status s = steprt_open(p, &o, &rt);
  check(s == STEPRT_OK || s == STEPRT_NO_MEMORY || *steprt_error(rt) != '\0');
  steprt_destroy(rt);
}

// No fuzzer finds a digest: the reader gives the one that it expected, and the text is tried again with it.
static void put_digest(char *text, const char *key, const char *digest) {
  char *at = strstr(text, key);
  if (at != NULL && strlen(at) > strlen(key) + 64) {
    memcpy(at + strlen(key), digest, 64);
  }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static const char digest_is[] = "its digest is ", seal_is[] = "its seal is ";
  char *text = malloc(size + 1);
  check(text != NULL);
  memcpy(text, data, size);
  text[size] = '\0';
  for (int attempt = 0; attempt < 3; attempt++) {
    struct steprt_program *p;
    const struct rt_image_ref *images;
    char why[480] = "";
    steprt_status s = rt_program_from_json(text, size, &p, &images, why, sizeof why);
    check(s == STEPRT_OK || (s == STEPRT_BAD_INPUT && *why != '\0' && p == NULL));
    const char *digest = strstr(why, digest_is), *seal = strstr(why, seal_is);
    if (digest != NULL) {
      put_digest(text, "\"digest\": \"", digest + sizeof digest_is - 1);
    } else if (seal != NULL) {
      put_digest(text, "\"seal\": \"", seal + sizeof seal_is - 1);
    }
    if (p != NULL) {
      check_program(p, images);
    }
    rt_program_free(p);
  }
  free(text);
  return 0;
}
