// The CUDA built-ins that generated kernels use, for a host C++ compiler: the device's arithmetic without a device.
// Compile with -ffp-contract=off: every intrinsic is then one IEEE operation.
#ifndef TESTS_CUDA_SHIM_CUH
#define TESTS_CUDA_SHIM_CUH

#include <cmath>
#include <cstring>
#include <pthread.h>
#include <vector>

#define __global__
#define __device__
#define __forceinline__ inline
#define __launch_bounds__(...)
#define __shared__ static // one block runs at a time

struct shim_index {
  unsigned x, y;
};
static thread_local shim_index threadIdx, blockIdx;
static shim_index gridDim;
extern "C" {
unsigned shim_row; // blockIdx.y of the next launch
}

struct alignas(16) float4 {
  float x, y, z, w;
};
struct alignas(8) uint2 {
  unsigned x, y;
};
inline float4 make_float4(float x, float y, float z, float w) {
  return {x, y, z, w};
}
inline uint2 make_uint2(unsigned x, unsigned y) {
  return {x, y};
}
// The device's hint to its compiler.
inline bool __isGlobal(const void *) {
  return true;
}
#define __builtin_assume(x) (void)(x)

template <class To, class From> inline To shim_bits(From x) {
  static_assert(sizeof(To) == sizeof(From), "bits of another size");
  To y;
  std::memcpy(&y, &x, sizeof y);
  return y;
}
inline unsigned __float_as_uint(float x) {
  return shim_bits<unsigned>(x);
}
inline float __uint_as_float(unsigned x) {
  return shim_bits<float>(x);
}
inline float __int_as_float(int x) {
  return shim_bits<float>(x);
}
inline long long __double_as_longlong(double x) {
  return shim_bits<long long>(x);
}
inline double __longlong_as_double(long long x) {
  return shim_bits<double>(x);
}

inline float __fadd_rn(float a, float b) {
  return a + b;
}
inline float __fsub_rn(float a, float b) {
  return a - b;
}
inline float __fmul_rn(float a, float b) {
  return a * b;
}
inline float __fdiv_rn(float a, float b) {
  return a / b;
}
inline float __fsqrt_rn(float a) {
  return std::sqrt(a);
}
inline float __fmaf_rn(float a, float b, float c) {
  return std::fma(a, b, c);
}
inline double __dadd_rn(double a, double b) {
  return a + b;
}
inline double __dsub_rn(double a, double b) {
  return a - b;
}
inline double __dmul_rn(double a, double b) {
  return a * b;
}
inline double __ddiv_rn(double a, double b) {
  return a / b;
}
inline double __dsqrt_rn(double a) {
  return std::sqrt(a);
}
inline double __ull2double_rn(unsigned long long x) {
  return (double)x;
}
inline float __double2float_rn(double x) {
  return (float)x;
}
inline int __clzll(long long x) {
  return x == 0 ? 64 : __builtin_clzll((unsigned long long)x);
}

static pthread_barrier_t shim_barrier;
inline void __syncthreads() {
  pthread_barrier_wait(&shim_barrier);
}

struct shim_thread {
  unsigned block, thread;
  void (*body)(void *);
  void *ctx;
};

static void *shim_run(void *arg) {
  const shim_thread *t = (const shim_thread *)arg;
  blockIdx.x = t->block;
  blockIdx.y = shim_row;
  threadIdx.x = t->thread;
  t->body(t->ctx);
  return nullptr;
}

// Runs `body` as every thread of every block, one block after the other: as plain loops, or (`together`) a block's
// threads at the same time, so that they may meet in __syncthreads. False when a thread cannot be made.
extern "C" bool shim_launch(unsigned blocks, unsigned threads, bool together,
                            void (*body)(void *), void *ctx) {
  gridDim.x = blocks;
  for (unsigned block = 0; block < blocks; block++) {
    std::vector<shim_thread> all;
    for (unsigned i = 0; i < threads; i++) {
      all.push_back({block, i, body, ctx});
    }
    if (!together) {
      for (shim_thread &t : all) {
        shim_run(&t);
      }
      continue;
    }
    std::vector<pthread_t> id(threads);
    pthread_barrier_init(&shim_barrier, nullptr, threads);
    for (unsigned i = 0; i < threads; i++) {
      if (pthread_create(&id[i], nullptr, shim_run, &all[i]) != 0) {
        return false;
      }
    }
    for (pthread_t t : id) {
      pthread_join(t, nullptr);
    }
    pthread_barrier_destroy(&shim_barrier);
  }
  return true;
}

#endif
