// A small plan made by hand, with one of everything that reports show: a use line on the host, one on the device, one of
// matrices; a frozen parameter; notes that are alike.
#ifndef TESTS_SUPPORT_SAMPLE_PLAN_H
#define TESTS_SUPPORT_SAMPLE_PLAN_H

#include "plan/program.h" // runtime/

// Read-only tables; the plan itself may be changed by the caller. Its digests are made up.
struct rt_plan sample_plan(void);

#endif
