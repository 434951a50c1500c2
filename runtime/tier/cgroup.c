// The memory limit of control groups: where this process stands (/proc/self/cgroup), where the trees are mounted
// (/proc/self/mountinfo), and what each group from there to the top allows. Both versions may be mounted at once.
// Sources: cgroups(7); Documentation/admin-guide/cgroup-v2.rst and cgroup-v1/memory.rst of Linux.
#include "tier/limits.h"

#include <string.h>
#include <unistd.h>

enum { PATH_MAX_HERE = 4096 };

// v1 writes "no limit" as the largest multiple of a page in 63 bits.
static const uint64_t V1_UNLIMITED = INT64_MAX / 65536 * 65536;

struct version {
  const char
      *limits[2]; // files of a group; memory.high does not refuse but slows to a crawl
  const char *usage, *idle; // `idle`: key in memory.stat
};
static const struct version version[] = {
    {{"memory.limit_in_bytes", NULL}, "memory.usage_in_bytes", "total_inactive_file "},
    {{"memory.max", "memory.high"}, "memory.current", "inactive_file "},
};
enum { V1, V2 };

static bool has_word(const char *list, size_t n, const char *word) {
  size_t len = strlen(word);
  for (const char *at = list, *end = list + n; at < end;) {
    const char *comma = memchr(at, ',', (size_t)(end - at));
    const char *stop = comma ? comma : end;
    if ((size_t)(stop - at) == len && memcmp(at, word, len) == 0) {
      return true;
    }
    at = stop + 1;
  }
  return false;
}

// The group of this process in the tree of version `v`: "N:controllers:/path", v2 without controllers.
static bool find_group(const char *root, int v, char path[PATH_MAX_HERE]) {
  char file[PATH_MAX_HERE], line[RT_LINE];
  bool found = false;
  (void)snprintf(file, sizeof file, "%s/proc/self/cgroup", root);
  FILE *f = fopen(file, "re");
  while (f && !found && rt_read_line(f, line)) {
    const char *list = strchr(line, ':');
    const char *at = list ? strchr(list + 1, ':') : NULL;
    if (!at) {
      continue;
    }
    size_t n = (size_t)(at - list - 1);
    found = v == V2 ? n == 0 : has_word(list + 1, n, "memory");
    if (found) {
      (void)snprintf(path, PATH_MAX_HERE, "%.*s", (int)strcspn(at + 1, "\n"), at + 1);
    }
  }
  if (f) {
    (void)fclose(f); // only read
  }
  return found;
}

// Fields of mountinfo: id, parent, device, root, mount point, options, any number of others, "-", type, source, options.
static bool mount_matches(char *line, int v, const char **top, const char **point) {
  char *rest = strstr(line, " - ");
  char *field[6], *save = NULL, *tail[3];
  if (!rest) {
    return false;
  }
  *rest = '\0';
  for (int i = 0; i < 6; i++) {
    field[i] = strtok_r(i == 0 ? line : NULL, " ", &save);
    if (!field[i]) {
      return false;
    }
  }
  save = NULL;
  for (int i = 0; i < 3; i++) {
    tail[i] = strtok_r(i == 0 ? rest + 3 : NULL, " \n", &save);
    if (!tail[i]) {
      return false;
    }
  }
  *top = field[3];
  *point = field[4];
  return v == V2 ? strcmp(tail[0], "cgroup2") == 0
                 : strcmp(tail[0], "cgroup") == 0 &&
                       has_word(tail[2], strlen(tail[2]), "memory");
}

// The group's folder below the mount point. A group outside what is mounted (a container that sees its own tree only)
// is the mount point itself.
static void place_group(const char *root, const char *top, const char *point,
                        const char *path, char folder[PATH_MAX_HERE]) {
  char full[2 * PATH_MAX_HERE];
  size_t n = strcmp(top, "/") == 0 ? 0 : strlen(top);
  bool inside = strncmp(path, top, n) == 0 && (path[n] == '/' || path[n] == '\0') &&
                !strstr(path, "..");
  int len = snprintf(folder, PATH_MAX_HERE, "%s%s", point, inside ? path + n : "");
  while (len > 0 && folder[len - 1] == '/') {
    folder[--len] = '\0';
  }
  (void)snprintf(full, sizeof full, "%s%s", root, folder);
  if (access(full, F_OK) != 0) {
    (void)snprintf(folder, PATH_MAX_HERE, "%s", point);
  }
}

static void take_least(const char *root, int v, const char *folder,
                       struct rt_limit *out) {
  char path[PATH_MAX_HERE + 64];
  (void)snprintf(path, sizeof path, "%s/%s", folder, version[v].usage);
  uint64_t used = rt_read_number(root, path, "");
  (void)snprintf(path, sizeof path, "%s/memory.stat", folder);
  uint64_t idle = rt_read_number(root, path, version[v].idle);
  used = used == RT_UNLIMITED ? 0 : used;
  used -= idle == RT_UNLIMITED ? 0 : idle < used ? idle : used;
  for (int i = 0; i < 2 && version[v].limits[i]; i++) {
    (void)snprintf(path, sizeof path, "%s/%s", folder, version[v].limits[i]);
    uint64_t limit = rt_read_number(root, path, "");
    if (limit == RT_UNLIMITED || (v == V1 && limit >= V1_UNLIMITED)) {
      continue;
    }
    uint64_t left = limit > used ? limit - used : 0;
    if (left < out->left) {
      out->left = left;
      (void)snprintf(out->name, sizeof out->name, "the cgroup limit (%.250s)", path);
    }
  }
}

static void walk_up(const char *root, int v, const char *point, char *folder,
                    struct rt_limit *out) {
  size_t stop = strlen(point);
  for (;;) {
    take_least(root, v, folder, out);
    char *slash = strrchr(folder, '/');
    if (!slash || (size_t)(slash - folder) < stop) {
      return;
    }
    *slash = '\0';
  }
}

static void look_at_version(const char *root, int v, struct rt_limit *out) {
  char path[PATH_MAX_HERE], folder[PATH_MAX_HERE], file[PATH_MAX_HERE], line[RT_LINE];
  const char *top, *point;
  if (!find_group(root, v, path)) {
    return;
  }
  (void)snprintf(file, sizeof file, "%s/proc/self/mountinfo", root);
  FILE *f = fopen(file, "re");
  while (f && rt_read_line(f, line)) {
    if (mount_matches(line, v, &top, &point)) {
      place_group(root, top, point, path, folder);
      walk_up(root, v, point, folder, out);
    }
  }
  if (f) {
    (void)fclose(f); // only read
  }
}

void rt_limit_cgroup(const char *root, struct rt_limit *out) {
  out->left = RT_UNLIMITED;
  (void)snprintf(out->name, sizeof out->name, "the cgroup limit");
  look_at_version(root, V1, out);
  look_at_version(root, V2, out);
}
