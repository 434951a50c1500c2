// A device that does all that a plan allows: operations run on this thread, in a random order among those that lanes
// and events allow, row by row and copy by copy, at once or only when somebody waits. What nobody may read any more is
// overwritten with NaNs: a slot's bytes once they are stored, the slab's once they are loaded, temporaries when the
// next chunk begins, a stage once it is uploaded. Arithmetic is that of the CPU device.
#ifndef TESTS_SUPPORT_ADVERSARY_H
#define TESTS_SUPPORT_ADVERSARY_H

#include "device/device.h"

extern const struct rt_device_class adversary_class;
// Of handles of this class that are opened from now on.
void adversary_seed(uint64_t seed);

#endif
