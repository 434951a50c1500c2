// Limits of the machine and of the process (proc(5), capabilities(7)).
#include "tier/limits.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { CAP_BIT_IPC_LOCK = 14 }; // capabilities(7)

bool rt_read_line(FILE *f, char line[RT_LINE]) {
  if (!fgets(line, RT_LINE, f)) {
    return false;
  }
  if (!strchr(line, '\n')) {
    for (int c = 0; c != EOF && c != '\n';) {
      c = fgetc(f);
    }
  }
  return true;
}

static uint64_t number_at(const char *s, int base) {
  while (isspace((unsigned char)*s)) {
    s++;
  }
  return isxdigit((unsigned char)*s) ? strtoull(s, NULL, base) : RT_UNLIMITED;
}

static uint64_t read_number(const char *root, const char *path, const char *key,
                            int base) {
  char full[4352], line[RT_LINE];
  uint64_t value = RT_UNLIMITED;
  (void)snprintf(full, sizeof full, "%s%s", root, path);
  FILE *f = fopen(full, "re");
  if (!f) {
    return RT_UNLIMITED;
  }
  size_t n = strlen(key);
  while (rt_read_line(f, line)) {
    if (strncmp(line, key, n) == 0) {
      value = number_at(line + n, base);
      break;
    }
  }
  (void)fclose(f); // only read
  return value;
}

uint64_t rt_read_number(const char *root, const char *path, const char *key) {
  return read_number(root, path, key, 10);
}

void rt_limit_available(const char *root, struct rt_limit *out) {
  uint64_t kib = rt_read_number(root, "/proc/meminfo", "MemAvailable:");
  out->left = kib < RT_UNLIMITED / 1024 ? kib * 1024 : RT_UNLIMITED;
  (void)snprintf(out->name, sizeof out->name,
                 "what the machine has (MemAvailable in /proc/meminfo)");
}

static uint64_t kib_of_status(const char *root, const char *key) {
  uint64_t kib = rt_read_number(root, "/proc/self/status", key);
  return kib < RT_UNLIMITED / 1024 ? kib * 1024 : 0;
}

void rt_limit_lock(const char *root, struct rt_limit *out) {
  uint64_t limit = rt_read_number(root, "/proc/self/limits", "Max locked memory");
  uint64_t caps = read_number(root, "/proc/self/status", "CapEff:", 16);
  uint64_t used = kib_of_status(root, "VmLck:") + kib_of_status(root, "VmPin:");
  bool exempt = caps != RT_UNLIMITED && caps >> CAP_BIT_IPC_LOCK & 1;
  out->left = exempt || limit == RT_UNLIMITED ? RT_UNLIMITED
              : limit > used                  ? limit - used
                                              : 0;
  (void)snprintf(out->name, sizeof out->name,
                 "the limit on locked memory (ulimit -l, RLIMIT_MEMLOCK)");
}

struct rt_size_text rt_size_text(uint64_t bytes) {
  static const char unit[] = "KMGTPE";
  struct rt_size_text t;
  if (bytes < 1024) {
    (void)snprintf(t.text, sizeof t.text, "%" PRIu64 " bytes", bytes);
    return t;
  }
  double x = (double)bytes / 1024;
  size_t i = 0;
  while (x >= 1023.995) { // what would print as 1024.00
    x /= 1024;
    i++;
  }
  (void)snprintf(t.text, sizeof t.text, "%.2f %ciB", x, unit[i]);
  return t;
}
