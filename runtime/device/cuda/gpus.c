// Which CUDA devices there are.
#include "device/cuda/driver.h"
#include "device/cuda/probe.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int32_t rt_gpu_node(const char *root, const char *bus) {
  char path[512], text[24];
  long node = -1;
  int n = snprintf(path, sizeof path, "%s/sys/bus/pci/devices/%s/numa_node", root, bus);
  if (n < 0 || (size_t)n >= sizeof path) {
    return -1;
  }
  for (char *c = path + strlen(root); *c != '\0';
       c++) { // the driver may write bus ids large, sysfs does not
    *c = *c >= 'A' && *c <= 'F' ? (char)(*c - 'A' + 'a') : *c;
  }
  FILE *f = fopen(path, "re");
  if (f != NULL && fgets(text, sizeof text, f) != NULL) {
    node = strtol(text, NULL, 10);
  }
  if (f != NULL) {
    (void)fclose(f);
  }
  return node < 0 || node > INT32_MAX ? -1 : (int32_t)node;
}

static int describe(const struct cu_driver *cu, int ordinal, struct rt_gpu *g) {
  int device, error = cu->device_get(&device, ordinal);
  size_t memory = 0;
  const struct {
    int attribute, *to;
  } numbers[] = {{CU_DEVICE_MAJOR, &g->major},
                 {CU_DEVICE_MINOR, &g->minor},
                 {CU_DEVICE_MULTIPROCESSORS, &g->multiprocessors},
                 {CU_DEVICE_COPY_ENGINES, &g->copy_engines}};
  for (size_t i = 0; i < sizeof numbers / sizeof *numbers && error == CU_SUCCESS; i++) {
    error = cu->device_attribute(numbers[i].to, numbers[i].attribute, device);
  }
  error = error ? error : cu->device_name(g->name, (int)sizeof g->name, device);
  error = error ? error : cu->device_bus(g->bus, (int)sizeof g->bus, device);
  error = error ? error : cu->device_memory(&memory, device);
  g->memory = memory;
  g->node = rt_gpu_node("", g->bus);
  return error;
}

steprt_status rt_gpus(struct rt_gpus *out, char *why, size_t n) {
  struct cu_driver cu;
  int count = 0, error;
  *out = (struct rt_gpus){0};
  steprt_status s = cu_driver_open(&cu, why, n);
  (void)snprintf(out->driver, sizeof out->driver, "%s", cu.library.path);
  out->how = cu.library.how;
  out->version = cu.version;
  if (s != STEPRT_OK) {
    return s;
  }
  error = cu.device_count(&count);
  out->n = count < RT_MAX_GPUS ? (uint32_t)count : RT_MAX_GPUS;
  for (uint32_t i = 0; i < out->n && error == CU_SUCCESS; i++) {
    error = describe(&cu, (int)i, &out->gpu[i]);
  }
  if (error != CU_SUCCESS) {
    cu_append_error(&cu, error, why, n);
    return STEPRT_NO_LIBRARY;
  }
  return STEPRT_OK;
}
