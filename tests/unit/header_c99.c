/* The public headers alone, in strict C99. */
#include "steprt.h"

#include "stepc.h"

steprt_status header_c99(const struct steprt_program *p, struct steprt **rt);
steprt_status header_c99(const struct steprt_program *p, struct steprt **rt) {
  return steprt_open(p, NULL, rt);
}
