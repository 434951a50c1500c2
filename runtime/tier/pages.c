// mbind(2), move_pages(2) and smaps (proc(5)).
#include "tier/pages.h"

#include "tier/limits.h"

#include <errno.h>
#include <linux/mempolicy.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { MAX_NODES = 1024, SAMPLES = 64, PAGE = 4096 };

int rt_pages_bind(void *at, uint64_t bytes, int32_t node) {
  unsigned long mask[MAX_NODES / (8 * sizeof(unsigned long))] = {0};
  const uint32_t bits = 8 * sizeof *mask;
  if (node < 0 ||
      node >= MAX_NODES - 1) { // the kernel looks at one bit less than it is told
    return EINVAL;
  }
  mask[(uint32_t)node / bits] = 1ul << ((uint32_t)node % bits);
  // Preferred, not bound: a node that is full must cost speed (which is said), not the process.
  long r = syscall(SYS_mbind, at, bytes, MPOL_PREFERRED, mask, MAX_NODES, 0);
  return r == 0 ? 0 : errno;
}

bool rt_pages_on_node(void *at, uint64_t bytes, int32_t node, uint32_t *on,
                      uint32_t *seen) {
  void *page[SAMPLES];
  int status[SAMPLES];
  uint64_t pages = (bytes + PAGE - 1) / PAGE;
  uint32_t n = pages < SAMPLES ? (uint32_t)pages : SAMPLES;
  for (uint32_t i = 0; i < n; i++) {
    page[i] = (char *)at + pages * i / n * PAGE;
  }
  *on = *seen = 0;
  if (syscall(SYS_move_pages, 0, (unsigned long)n, page, NULL, status, 0) != 0) {
    return false;
  }
  for (uint32_t i = 0; i < n; i++) {
    *seen += status[i] >= 0;
    *on += status[i] == node;
  }
  return *seen > 0;
}

// "BEGIN-END ..." in hex: the line that a mapping begins with.
static bool is_mapping(const char *line, uintptr_t *begin, uintptr_t *end) {
  char *dash, *space;
  *begin = (uintptr_t)strtoull(line, &dash, 16);
  if (dash == line || *dash != '-') {
    return false;
  }
  *end = (uintptr_t)strtoull(dash + 1, &space, 16);
  return *space == ' ';
}

bool rt_pages_huge_in(const char *smaps, const void *at, uint64_t bytes, uint64_t *huge) {
  const char key[] = "AnonHugePages:"; // kB
  char line[RT_LINE];
  bool inside = false, found = false;
  FILE *f = fopen(smaps, "re");
  while (f && !found && rt_read_line(f, line)) {
    uintptr_t begin, end;
    if (is_mapping(line, &begin, &end)) {
      inside = begin <= (uintptr_t)at && (uintptr_t)at < end;
    } else if (inside && strncmp(line, key, strlen(key)) == 0) {
      uint64_t n = strtoull(line + strlen(key), NULL, 10) * 1024;
      *huge = n < bytes ? n : bytes; // a neighbour may share the entry
      found = true;
    }
  }
  if (f) {
    (void)fclose(f); // only read
  }
  return found;
}

bool rt_pages_huge(const void *at, uint64_t bytes, uint64_t *huge) {
  return rt_pages_huge_in("/proc/self/smaps", at, bytes, huge);
}
