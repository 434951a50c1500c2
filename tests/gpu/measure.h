// Time of launches, beside that of a copy on the device that moves as many bytes.
#ifndef TESTS_GPU_MEASURE_H
#define TESTS_GPU_MEASURE_H

#include "mirror.h"

// Prints a line for each launch of the first wave that moves more than the caches hold, and for each kernel of squares: median,
// least and most of several rounds. In a round the copy and the launch follow each other. Changes the tensors.
void measure_launches(struct mirror *m);

#endif
