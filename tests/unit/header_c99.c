/* The public header alone, in strict C99. */
#include "steprt.h"

steprt_status header_c99(struct steprt *rt);
steprt_status header_c99(struct steprt *rt) { return steprt_run(rt, NULL); }
