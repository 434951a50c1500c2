// What the bytes that stream cost alone.
#include "tool/bench_floor.h"

#include "base/clock.h"

#include "device/cuda/link.h"

#include <stdlib.h>
#include <string.h>

static const uint64_t PIECE = (uint64_t)64 << 20; // of a copy over the link
static const uint64_t ROOM = (uint64_t)1 << 30;   // of a buffer: more than caches hold

static enum exit_code open_link(struct bench_floor *f) {
  char why[512];
  if (rt_link_open(0, f->room, &f->link, why, sizeof why) == STEPRT_OK) {
    return EXIT_OK;
  }
  say(f->tool, "no buffers for the floor: %s", str_escape(f->tool->arena, str_of(why)).p);
  return EXIT_ENVIRONMENT;
}

static enum exit_code open_memory(struct bench_floor *f) {
  f->from = malloc(f->room);
  f->to = malloc(f->room);
  if (f->from == NULL || f->to == NULL) {
    say(f->tool, "out of memory");
    return EXIT_ENVIRONMENT;
  }
  memset(f->from, 1, f->room); // pages of their own, not the shared zero page
  memset(f->to, 2, f->room);
  return EXIT_OK;
}

enum exit_code floor_open(struct bench_floor *f, struct tool *t, struct rt_team *team,
                          bool on_gpu, uint64_t up, uint64_t down) {
  uint64_t most = up > down ? up : down;
  *f = (struct bench_floor){.tool = t, .team = team, .up = up, .down = down};
  f->room = most < ROOM ? most : ROOM;
  return on_gpu ? open_link(f) : open_memory(f);
}

void floor_close(struct bench_floor *f) {
  rt_link_close(f->link);
  free(f->from);
  free(f->to);
  *f = (struct bench_floor){0};
}

struct part {
  const struct bench_floor *floor;
  uint64_t bytes;
};

// One contiguous part per thread, so that the C library sees a large copy and streams past the caches.
static void copy_part(void *ctx, uint64_t item, uint32_t thread) {
  (void)thread;
  const struct part *p = ctx;
  uint64_t n = rt_team_size(p->floor->team), begin = p->bytes / n * item;
  uint64_t end = item + 1 == n ? p->bytes : begin + p->bytes / n;
  memcpy(p->floor->to + begin, p->floor->from + begin, end - begin);
}

static void copy_memory(struct bench_floor *f) {
  for (uint64_t left = f->up + f->down; left != 0;) {
    struct part part = {f, left < f->room ? left : f->room};
    rt_team_run(f->team, rt_team_size(f->team), copy_part, &part);
    left -= part.bytes;
  }
}

enum exit_code floor_round(struct bench_floor *f, double *seconds) {
  char why[512];
  double start = clock_now();
  if (f->link == NULL) {
    copy_memory(f);
  } else if (rt_link_copy(f->link, f->up, f->down, PIECE, why, sizeof why) != STEPRT_OK) {
    say(f->tool, "the floor's copies failed: %s",
        str_escape(f->tool->arena, str_of(why)).p);
    return EXIT_ENVIRONMENT;
  }
  *seconds = clock_now() - start;
  return EXIT_OK;
}
