// The floating-point mode of DESIGN section 4: round to nearest even, denormals kept, no traps. Callers may run
// with another one (flush to zero is common in trainers); it would change bits.
#ifndef STEPRT_CORE_FPMODE_H
#define STEPRT_CORE_FPMODE_H

#include <stdint.h>

#ifdef __SSE2__
#  include <xmmintrin.h>

// Sets the mode for this thread; returns what `rt_fpmode_leave` puts back.
static inline uint32_t rt_fpmode_enter(void) {
  uint32_t before = _mm_getcsr();
  _mm_setcsr(0x1f80u); // Intel SDM volume 1, 10.2.3: the value after reset
  return before;
}
static inline void rt_fpmode_leave(uint32_t before) {
  _mm_setcsr(before);
}
#else
#  error "the floating-point mode of this processor is not known"
#endif

#endif
