// The public headers alone, in C++.
#include "stepc.h"

#include "steprt.h"

steprt_status header_cxx(const steprt_program *p, steprt **rt);
steprt_status header_cxx(const steprt_program *p, steprt **rt) {
  return steprt_open(p, nullptr, rt);
}
