// Lanes, team and products of whole steps, for ThreadSanitizer: shipped specs whose states stream through few slots,
// with units in random unions, overlap and several steps in flight. Exit 0: the bits are those of a plain run.
#include "support/law.h"

#include <stdio.h>
#include <string.h>

static const struct law_plan plans[] = {
    {"adamw", NULL, "host", 4096, 3, false},
    {"gpt", NULL, "host", 4096, 3, true},
    {"gpt", NULL, "host:0.5", 65536, 4, false},
};

static struct law_digest digest(struct law_plan plan, const struct law_run *r) {
  plan.model = law_model;
  struct steprt_program *p = law_compile(&plan);
  struct law_digest d = law_run(p, r);
  stepc_program_free(p);
  return d;
}

int main(void) {
  int wrong = 0;
  for (size_t i = 0; i < sizeof plans / sizeof *plans; i++) {
    struct law_digest plain =
        digest((struct law_plan){.spec = plans[i].spec}, &(struct law_run){.threads = 1});
    for (uint64_t seed = 0; seed < 3; seed++) {
      struct law_digest d =
          digest(plans[i], &(struct law_run){.threads = 3, .subsets = seed});
      wrong += strcmp(d.hex, plain.hex) != 0;
    }
  }
  if (wrong) {
    fprintf(stderr, "%d wrong results\n", wrong);
  }
  return wrong != 0;
}
