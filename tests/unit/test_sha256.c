// SHA-256 against the vectors of FIPS 180-4 and NIST's long message, and the two code paths against each other.
#include "file/sha256.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

struct vector {
  const char *text, *hex;
};

static const struct vector vectors[] = {
    {"", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"},
    {"abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"},
    {"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
     "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"},
};

Test(sha256, known_vectors) {
  for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++) {
    for (int portable = 0; portable < 2; portable++) {
      struct sha256 s;
      char hex[65];
      portable ? sha256_init_portable(&s) : sha256_init(&s);
      sha256_add(&s, vectors[i].text, strlen(vectors[i].text));
      sha256_hex(&s, hex);
      cr_assert_str_eq(hex, vectors[i].hex);
    }
  }
}

Test(sha256, a_million_letters_in_uneven_pieces) {
  char *text = malloc(1000000), hex[65];
  memset(text, 'a', 1000000);
  struct sha256 s;
  sha256_init(&s);
  for (size_t at = 0, piece = 1; at < 1000000;
       at += piece, piece = piece * 7 % 1009 + 1) {
    if (piece > 1000000 - at) {
      piece = 1000000 - at;
    }
    sha256_add(&s, text + at, piece);
  }
  sha256_hex(&s, hex);
  free(text);
  cr_assert_str_eq(hex,
                   "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

Test(sha256, both_paths_agree_on_every_length) {
  uint8_t text[300];
  for (size_t i = 0; i < sizeof text; i++) {
    text[i] = (uint8_t)(i * 131u + 7u);
  }
  for (size_t n = 0; n <= sizeof text; n++) {
    struct sha256 a, b;
    char ha[65], hb[65];
    sha256_init(&a);
    sha256_init_portable(&b);
    sha256_add(&a, text, n);
    sha256_add(&b, text, n);
    sha256_hex(&a, ha);
    sha256_hex(&b, hb);
    cr_assert_str_eq(ha, hb);
  }
}
