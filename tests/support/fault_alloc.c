#include "support/fault_alloc.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/mman.h>

static _Atomic uint64_t calls, fail_at;
static _Atomic int64_t live;

void fault_alloc_reset(uint64_t at) {
  calls = 0;
  live = 0;
  fail_at = at;
}

struct fault_alloc fault_alloc_counts(void) {
  return (struct fault_alloc){calls, live};
}

static bool fails(void) {
  return atomic_fetch_add(&calls, 1) + 1 == fail_at;
}

static void *counted(void *p) {
  live += p != NULL;
  return p;
}

void *__real_malloc(size_t n);
void *__real_calloc(size_t n, size_t size);
void *__real_aligned_alloc(size_t align, size_t n);
void __real_free(void *p);
void *__real_mmap(void *at, size_t n, int prot, int flags, int fd, off_t off);
int __real_munmap(void *at, size_t n);
int __real_pthread_create(pthread_t *t, const pthread_attr_t *a, void *(*f)(void *),
                          void *arg);

void *__wrap_malloc(size_t n);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_aligned_alloc(size_t align, size_t n);
void __wrap_free(void *p);
void *__wrap_mmap(void *at, size_t n, int prot, int flags, int fd, off_t off);
int __wrap_munmap(void *at, size_t n);
int __wrap_pthread_create(pthread_t *t, const pthread_attr_t *a, void *(*f)(void *),
                          void *arg);

void *__wrap_malloc(size_t n) {
  return fails() ? NULL : counted(__real_malloc(n));
}

void *__wrap_calloc(size_t n, size_t size) {
  return fails() ? NULL : counted(__real_calloc(n, size));
}

void *__wrap_aligned_alloc(size_t align, size_t n) {
  return fails() ? NULL : counted(__real_aligned_alloc(align, n));
}

void __wrap_free(void *p) {
  live -= p != NULL;
  __real_free(p);
}

void *__wrap_mmap(void *at, size_t n, int prot, int flags, int fd, off_t off) {
  void *p = fails() ? MAP_FAILED : __real_mmap(at, n, prot, flags, fd, off);
  live += p != MAP_FAILED;
  return p;
}

int __wrap_munmap(void *at, size_t n) {
  live--;
  return __real_munmap(at, n);
}

int __wrap_pthread_create(pthread_t *t, const pthread_attr_t *a, void *(*f)(void *),
                          void *arg) {
  return fails() ? EAGAIN : __real_pthread_create(t, a, f, arg);
}
