// The public header alone, in C++.
#include "steprt.h"

steprt_status header_cxx(steprt *rt);
steprt_status header_cxx(steprt *rt) {
  return steprt_run(rt, nullptr);
}
