// Devices and rates over the driver in host memory: what is found, in which form, and that nothing is left behind. The
// fake's clock counts tasks: rates are numbers, not facts.
#include "fake_cuda.h"
#include "tempdir.h"

#include "device/cuda/block.h"
#include "device/cuda/link.h"
#include "device/cuda/probe.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static const uint64_t most = 4 << 20;

static void start(void) {
  setenv("STEPC_LIBRARY_PATH", STEPC_BUILD_DIR "/fake-cuda", 1);
  fake_cuda_reset(1);
}

static void expect_nothing_left(void) {
  struct fake_live l = fake_cuda_live();
  cr_expect(l.streams == 0 && l.events == 0 && l.allocations == 0 && l.pinned == 0 &&
            l.contexts == 0);
}

Test(cuda_probe, devices) {
  struct rt_gpus g;
  char why[512];
  start();
  cr_assert_eq(rt_gpus(&g, why, sizeof why), STEPRT_OK, "%s", why);
  cr_expect(g.n == 2 && g.version == 13000 && strstr(g.driver, "fake-cuda") != NULL);
  cr_expect_str_eq(g.gpu[1].name, "Fake 1");
  cr_expect_str_eq(g.gpu[1].bus, "FFFF:FF:11.0");
  cr_expect(g.gpu[0].major == 9 && g.gpu[0].multiprocessors == 3 && g.gpu[0].node == -1);
  expect_nothing_left();
}

Test(cuda_probe, rates) {
  struct rt_probe p;
  char why[512];
  start();
  cr_assert_eq(rt_probe(1, most, &p, why, sizeof why), STEPRT_OK, "%s", why);
  cr_assert_eq(p.n_rates, 2);
  cr_expect(p.rate[0].bytes == 2 << 20 && p.rate[1].bytes == most);
  for (uint32_t i = 0; i < p.n_rates; i++) {
    cr_expect(p.rate[i].load > 0 && p.rate[i].store > 0 && p.rate[i].both > 0);
  }
  cr_expect(p.device_copy > 0 && p.n_all == 2 && p.all.both > 0 && p.all.bytes == most);
  cr_expect(p.products <= 0 && strstr(p.products_why, "too small") != NULL, "%s",
            p.products_why);
  expect_nothing_left();
}

// More bytes than room, by pieces that do not divide them.
Test(cuda_probe, link) {
  struct rt_link *l;
  char why[512];
  start();
  cr_assert_eq(rt_link_open(1, most, &l, why, sizeof why), STEPRT_OK, "%s", why);
  cr_expect_eq(rt_link_copy(l, 3 * most + 5, most, most / 4 * 3, why, sizeof why),
               STEPRT_OK);
  cr_expect_eq(fake_cuda_calls("cuMemcpyHtoDAsync"), 5);
  cr_expect_eq(fake_cuda_calls("cuMemcpyDtoHAsync"), 2);
  cr_expect_eq(rt_link_copy(l, 0, 0, most, why, sizeof why), STEPRT_OK);
  rt_link_close(l);
  expect_nothing_left();
}

Test(cuda_probe, link_refused) {
  static const char *const calls[] = {"cuMemAlloc", "cuMemHostRegister",
                                      "cuStreamCreateWithPriority",
                                      "cuDevicePrimaryCtxRetain"};
  struct rt_link *l;
  char why[512];
  start();
  cr_expect_eq(rt_link_open(2, most, &l, why, sizeof why), STEPRT_BAD_ARGUMENT);
  cr_expect(strstr(why, "there is no CUDA device 2: the driver shows 2") != NULL);
  for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
    fake_cuda_fail(calls[i], 1, 2);
    cr_expect_eq(rt_link_open(0, most, &l, why, sizeof why), STEPRT_NO_MEMORY, "%s",
                 calls[i]);
    cr_expect(l == NULL && strstr(why, calls[i]) != NULL, "%s: %s", calls[i], why);
    expect_nothing_left();
  }
  cr_assert_eq(rt_link_open(0, most, &l, why, sizeof why), STEPRT_OK, "%s", why);
  fake_cuda_fail("cuMemcpyDtoHAsync", 1, 1);
  cr_expect_eq(rt_link_copy(l, most, most, most, why, sizeof why), STEPRT_FAILED);
  rt_link_close(l);
  expect_nothing_left();
}

Test(cuda_probe, refused) {
  static const char *const calls[] = {"cuMemAlloc",          "cuMemHostRegister",
                                      "cuEventRecord",       "cuMemcpyHtoDAsync",
                                      "cuStreamSynchronize", "cuDevicePrimaryCtxRetain"};
  struct rt_probe p;
  char why[512];
  start();
  cr_expect_eq(rt_probe(2, most, &p, why, sizeof why), STEPRT_BAD_ARGUMENT);
  cr_expect_str_eq(why, "there is no CUDA device 2: the driver shows 2");
  for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
    start();
    fake_cuda_fail(calls[i], 1, 2);
    cr_expect_eq(rt_probe(0, most, &p, why, sizeof why), STEPRT_NO_MEMORY);
    cr_expect(strstr(why, "CUDA_ERROR_OUT_OF_MEMORY") != NULL, "%s: %s", calls[i], why);
    expect_nothing_left();
  }
  start();
  fake_cuda_fail("cuInit", 1, 100);
  cr_expect_eq(rt_probe(0, most, &p, why, sizeof why), STEPRT_NO_LIBRARY);
  cr_expect(strstr(why, "does not start") != NULL, "%s", why);
}

Test(cuda_probe, block) {
  struct rt_gpu_block *b;
  char why[512], text[] = "some bytes", back[sizeof text];
  start();
  cr_expect_eq(rt_gpu_block_open(2, 1000, &b, why, sizeof why), STEPRT_BAD_ARGUMENT);
  cr_expect_null(b);
  fake_cuda_fail("cuMemAlloc", 1, 2);
  cr_expect_eq(rt_gpu_block_open(1, 1000, &b, why, sizeof why), STEPRT_NO_MEMORY);
  cr_expect_str_eq(why,
                   "cuMemAlloc: CUDA_ERROR_OUT_OF_MEMORY (2: out of memory): 1000 bytes");
  cr_assert_eq(rt_gpu_block_open(1, 1000, &b, why, sizeof why), STEPRT_OK, "%s", why);
  cr_expect_eq((uintptr_t)rt_gpu_block_address(b) % 256, 0);
  cr_expect_eq(rt_gpu_block_put(b, 900, text, sizeof text, why, sizeof why), STEPRT_OK);
  cr_expect_eq(rt_gpu_block_get(b, 900, back, sizeof back, why, sizeof why), STEPRT_OK);
  cr_expect_str_eq(back, text);
  fake_cuda_fail("cuCtxPushCurrent", 1, 2);
  cr_expect_eq(rt_gpu_block_get(b, 0, back, 1, why, sizeof why), STEPRT_NO_MEMORY);
  cr_expect_str_eq(why, "cuCtxPushCurrent: CUDA_ERROR_OUT_OF_MEMORY (2: out of memory)");
  cr_expect_eq(fake_cuda_calls("cuCtxPopCurrent") + 1,
               fake_cuda_calls("cuCtxPushCurrent"), "what was not pushed is not popped");
  fake_cuda_fail("cuMemcpyDtoH", 1, 700);
  cr_expect_eq(rt_gpu_block_get(b, 0, back, 1, why, sizeof why), STEPRT_FAILED);
  rt_gpu_block_close(b);
  rt_gpu_block_close(NULL);
  expect_nothing_left();
}

// sysfs tells the node by the bus id, in small letters; -1 and a missing file are no node.
Test(cuda_probe, node) {
  struct tempdir d = tempdir_new();
  char path[400];
  static const char *const folders[] = {"sys",
                                        "sys/bus",
                                        "sys/bus/pci",
                                        "sys/bus/pci/devices",
                                        "sys/bus/pci/devices/0000:3b:00.0",
                                        "sys/bus/pci/devices/0000:4a:00.0"};
  for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
    cr_assert_eq(mkdir(tempdir_join(&d, folders[i], path), 0700), 0);
  }
  tempdir_write(&d, "sys/bus/pci/devices/0000:3b:00.0/numa_node", "1\n", 2);
  tempdir_write(&d, "sys/bus/pci/devices/0000:4a:00.0/numa_node", "-1\n", 3);
  cr_expect_eq(rt_gpu_node(d.path, "0000:3B:00.0"), 1);
  cr_expect_eq(rt_gpu_node(d.path, "0000:3b:00.0"), 1);
  cr_expect_eq(rt_gpu_node(d.path, "0000:4A:00.0"), -1);
  cr_expect_eq(rt_gpu_node(d.path, "0000:5A:00.0"), -1);
  tempdir_remove(&d);
}
