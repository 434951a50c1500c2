// Opening the slab: budget, mapping, pages.
#include "tier/host.h"

#include "file/io.h"
#include "tier/limits.h"
#include "tier/pages.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

// What one thread touches at a time. Large: a piece's first and last huge page may be a neighbour's too, and two
// threads that fault it at once both clear it.
static const uint64_t PIECE = 32 << 20;
enum { SMALL_PAGE = 4096, HUGE_PAGE = 1 << 21 };

__attribute__((format(printf, 2, 3))) static void note(const struct rt_slab_request *r,
                                                       const char *format, ...) {
  char text[320];
  va_list args;
  va_start(args, format);
  (void)vsnprintf(text, sizeof text, format, args);
  va_end(args);
  if (r->note) {
    r->note(r->note_ctx, text);
  }
}

static const char *root_of(const struct rt_slab_request *r) {
  return r->root ? r->root : "";
}

steprt_status rt_slab_check(const struct rt_slab_request *r, char *why, size_t n) {
  struct rt_limit limit[4] = {
      {r->limit ? r->limit : RT_UNLIMITED, "the limit given (host_memory)"}};
  rt_limit_cgroup(root_of(r), &limit[1]);
  rt_limit_available(root_of(r), &limit[2]);
  limit[3].left = RT_UNLIMITED;
  if (r->lock_counts) {
    rt_limit_lock(root_of(r), &limit[3]);
  }
  const struct rt_limit *least = limit;
  for (int i = 1; i < 4; i++) {
    least = limit[i].left < least->left ? &limit[i] : least;
  }
  if (r->bytes <= least->left) {
    return STEPRT_OK;
  }
  (void)snprintf(why, n,
                 "host memory for states: %s needed, %s left by %s: %s too little",
                 rt_size_text(r->bytes).text, rt_size_text(least->left).text, least->name,
                 rt_size_text(r->bytes - least->left).text);
  return STEPRT_NO_MEMORY;
}

struct touch {
  volatile char *at;
  uint64_t bytes;
};

static void touch_piece(void *ctx, uint64_t item, uint32_t thread) {
  (void)thread;
  const struct touch *t = ctx;
  uint64_t end = (item + 1) * PIECE < t->bytes ? (item + 1) * PIECE : t->bytes;
  for (uint64_t at = item * PIECE; at < end; at += SMALL_PAGE) {
    t->at[at] = 0;
  }
}

static steprt_status touch(const struct rt_slab_request *r, const struct rt_slab *s) {
  struct touch t = {s->at, s->mapped};
  struct rt_team *own = NULL;
  steprt_status status = r->team ? STEPRT_OK : rt_team_new(0, &own);
  if (!status) {
    rt_team_run(r->team ? r->team : own, (s->mapped + PIECE - 1) / PIECE, touch_piece,
                &t);
  }
  rt_team_free(own);
  return status;
}

static void note_huge_pages(const struct rt_slab_request *r, const struct rt_slab *s) {
  const uint64_t ends = 2 * (uint64_t)HUGE_PAGE; // they need not lie on huge pages
  uint64_t huge = 0;
  if (s->mapped <= ends) {
    return;
  }
  if (!rt_pages_huge(s->at, s->mapped, &huge)) {
    note(r, "host slab: whether its pages are huge cannot be read (/proc/self/smaps)");
  } else if (huge < s->mapped - ends) {
    note(r,
         "host slab: %s of %s in huge pages, the rest in small ones: they take longer to "
         "touch and to pin (/sys/kernel/mm/transparent_hugepage/enabled)",
         rt_size_text(huge).text, rt_size_text(s->mapped).text);
  }
}

static void note_node(const struct rt_slab_request *r, const struct rt_slab *s) {
  char buf[128];
  uint32_t on, seen;
  if (r->node < 0) {
    return;
  }
  if (!rt_pages_on_node(s->at, s->mapped, r->node, &on, &seen)) {
    note(r, "host slab: which NUMA node its pages lie on cannot be read: %s",
         rt_io_text(errno, buf, sizeof buf));
  } else if (on < seen) {
    note(r,
         "host slab: %u of %u pages looked at lie on another NUMA node than %d: copies "
         "of them are slower",
         seen - on, seen, r->node);
  }
}

static steprt_status map(const struct rt_slab_request *r, struct rt_slab *s, char *why,
                         size_t n) {
  char buf[128];
  uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
  s->bytes = r->bytes;
  s->mapped = r->bytes > PTRDIFF_MAX ? r->bytes : (r->bytes + page - 1) / page * page;
  s->at =
      mmap(NULL, s->mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (s->at == MAP_FAILED) {
    (void)snprintf(why, n, "host memory for states: %s cannot be mapped: %s",
                   rt_size_text(r->bytes).text, rt_io_text(errno, buf, sizeof buf));
    *s = (struct rt_slab){0};
    return STEPRT_NO_MEMORY;
  }
  return STEPRT_OK;
}

// Each is a wish; what comes of it is looked at when the pages are there.
static void advise(const struct rt_slab_request *r, const struct rt_slab *s) {
  char buf[128];
  int error = r->node < 0 ? 0 : rt_pages_bind(s->at, s->mapped, r->node);
  if (error) {
    note(r, "host slab: not bound to NUMA node %d: %s", r->node,
         rt_io_text(error, buf, sizeof buf));
  }
  (void)madvise(s->at, s->mapped, MADV_HUGEPAGE);
  if (r->not_for_children && madvise(s->at, s->mapped, MADV_DONTFORK) != 0) {
    note(r, "host slab: children of fork get it too: %s",
         rt_io_text(errno, buf, sizeof buf));
  }
}

steprt_status rt_slab_open(const struct rt_slab_request *r, struct rt_slab *out,
                           char *why, size_t n) {
  *out = (struct rt_slab){0};
  if (r->bytes == 0) {
    return STEPRT_OK;
  }
  steprt_status s = rt_slab_check(r, why, n);
  s = s ? s : map(r, out, why, n);
  if (s) {
    return s;
  }
  advise(r, out);
  s = touch(r, out);
  if (s) {
    (void)snprintf(why, n, "host memory for states: no threads to touch it with");
    rt_slab_close(out);
    return s;
  }
  note_huge_pages(r, out);
  note_node(r, out);
  return STEPRT_OK;
}

void rt_slab_close(struct rt_slab *s) {
  if (s->at) {
    (void)munmap(s->at, s->mapped); // cannot fail: a whole mapping of ours
  }
  *s = (struct rt_slab){0};
}
