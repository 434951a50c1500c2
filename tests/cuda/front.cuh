// The CUDA built-ins that generated kernels use, as declarations for clang's CUDA front end without a toolkit.
#define __global__           __attribute__((global))
#define __device__           __attribute__((device))
#define __shared__           __attribute__((shared))
#define __forceinline__      __inline__ __attribute__((always_inline))
#define __launch_bounds__(...) __attribute__((launch_bounds(__VA_ARGS__)))

struct front_index {
  unsigned x, y, z;
};
extern const __device__ front_index threadIdx, blockIdx, gridDim;

struct __attribute__((aligned(16))) float4 {
  float x, y, z, w;
};
struct __attribute__((aligned(8))) uint2 {
  unsigned x, y;
};
__device__ float4 make_float4(float x, float y, float z, float w);
__device__ uint2 make_uint2(unsigned x, unsigned y);
__device__ unsigned __isGlobal(const void *p) __attribute__((const));

__device__ unsigned __float_as_uint(float x);
__device__ float __uint_as_float(unsigned x);
__device__ float __int_as_float(int x);
__device__ long long __double_as_longlong(double x);
__device__ double __longlong_as_double(long long x);

__device__ float __fadd_rn(float a, float b);
__device__ float __fsub_rn(float a, float b);
__device__ float __fmul_rn(float a, float b);
__device__ float __fdiv_rn(float a, float b);
__device__ float __fsqrt_rn(float a);
__device__ float __fmaf_rn(float a, float b, float c);
__device__ float fabsf(float x);
__device__ double __dadd_rn(double a, double b);
__device__ double __dsub_rn(double a, double b);
__device__ double __dmul_rn(double a, double b);
__device__ double __ddiv_rn(double a, double b);
__device__ double __dsqrt_rn(double a);
__device__ double __ull2double_rn(unsigned long long x);
__device__ float __double2float_rn(double x);
__device__ double floor(double x);
__device__ int __clzll(long long x);
__device__ void __syncthreads();
