// Kernels around the products of an orthogonalize on a GPU, and what they share. The compiler pastes the sections that a
// kernel uses after those of prelude.cuh; `//: NAME` begins one. What stands before: BLOCK, LANES, TURNS, CAST_FIRST (the
// operand is rounded before its norm is taken), and the types `operand` and `compute`.

//: read_f32
static __device__ __forceinline__ float widen_operand(float x) {
  return x;
}

//: read_bf16
static __device__ __forceinline__ float widen_operand(unsigned short x) {
  return __uint_as_float((unsigned)x << 16);
}

//: cast_f32
static __device__ __forceinline__ float cast(float x) {
  return x;
}

//: cast_bf16
static __device__ __forceinline__ float cast(float x) {
  return round_bf16(x);
}

//: widen_f32
static __device__ __forceinline__ float widen_compute(float x) {
  return x;
}

//: widen_bf16
static __device__ __forceinline__ float widen_compute(unsigned short x) {
  return __uint_as_float((unsigned)x << 16);
}

//: narrow_f32
static __device__ __forceinline__ float narrow_compute(float x) {
  return x;
}

//: narrow_bf16
// The value is rounded already: what is cut off is zero.
static __device__ __forceinline__ unsigned short narrow_compute(float x) {
  return (unsigned short)(__float_as_uint(x) >> 16);
}

//: power
// The power of two that brings a norm near 1; 1 where it has none.
static __device__ __forceinline__ double near_one(double norm) {
  const int exponent = (int)(__double_as_longlong(norm) >> 52 & 0x7ff) - 1023;
  return norm > 0.0 && norm < 1.0e300 ? power_of_2(-exponent) : 1.0;
}

//: ortho_norm
// The sum of squares of each matrix, row-major and one behind the other: `gridDim.x` parts of matrix blockIdx.y, one set
// of bins per block in `parts`.
{
  const operand *x = in + blockIdx.y * numel;
  const unsigned long long turn = (unsigned long long)BLOCK * LANES * TURNS;
  const unsigned long long per = (numel + turn * gridDim.x - 1) / (turn * gridDim.x) * turn;
  const unsigned long long begin = per * blockIdx.x;
  const unsigned long long end = begin >= numel ? begin : numel - begin < per ? numel : begin + per;
  struct adder a;
  clear(&a.sum);
  open(&a);
  for (unsigned long long base = begin; base < end; base += turn) {
    for (unsigned t = 0; t < TURNS; t++) {
      const unsigned long long at = base + ((unsigned long long)t * BLOCK + threadIdx.x) * LANES;
      float v[LANES];
#pragma unroll
      for (unsigned i = 0; i < LANES; i++) {
        const float element = at + i < end ? widen_operand(x[at + i]) : 0.0f;
        v[i] = CAST_FIRST ? cast(element) : element;
      }
      add_squares(&a, v);
    }
    close(&a);
    open(&a);
  }
  close(&a);
  merge_block(&a.sum);
  if (threadIdx.x == 0) {
    parts[(unsigned long long)blockIdx.y * gridDim.x + blockIdx.x] = a.sum;
  }
}

//: ortho_scale
// x := the operand divided by its guarded norm, or by a power of two near it (`by_power`), in rows of `ld` elements.
{
  __shared__ double scale;
  struct binned sum;
  clear(&sum);
  for (unsigned i = threadIdx.x; i < n_parts; i += BLOCK) {
    merge(&sum, &parts[(unsigned long long)blockIdx.y * n_parts + i]);
  }
  merge_block(&sum);
  if (threadIdx.x == 0) {
    const double norm = __dsqrt_rn(value_of(&sum));
    const double guarded = __dmul_rn(safety, norm);
    // Zeros stay zeros, whatever the guard; NaN passes on.
    scale = norm == 0.0 ? 0.0
            : by_power  ? near_one(norm)
                        : __ddiv_rn(1.0, __dadd_rn(guarded < floor ? floor : guarded, eps));
  }
  __syncthreads();
  const operand *from = in + blockIdx.y * rows * cols;
  compute *to = x + blockIdx.y * rows * ld;
  for (unsigned long long row = blockIdx.x; row < rows; row += gridDim.x) {
    for (unsigned long long col = threadIdx.x; col < cols; col += BLOCK) {
      const float element = widen_operand(from[row * cols + col]);
      const double value = CAST_FIRST ? cast(element) : element;
      to[row * ld + col] = narrow_compute(cast(__double2float_rn(__dmul_rn(value, scale))));
    }
  }
}

//: ortho_factor
// AOL: factor i of a Gram matrix (f32, n x n in rows of `ld`): 1 / sqrt(max(sum of magnitudes of row i, floor)); the
// floor goes with the square of the power of two that the operand was multiplied with. Sums run in order of columns.
{
  __shared__ double bound;
  struct binned sum;
  clear(&sum);
  for (unsigned i = threadIdx.x; i < n_parts; i += BLOCK) {
    merge(&sum, &parts[(unsigned long long)blockIdx.y * n_parts + i]);
  }
  merge_block(&sum);
  if (threadIdx.x == 0) {
    const double norm = __dsqrt_rn(value_of(&sum));
    const double by = near_one(norm);
    bound = __dmul_rn(floor, __dmul_rn(by, by));
  }
  __syncthreads();
  const float *g = gram + blockIdx.y * n * ld;
  for (unsigned long long i = (unsigned long long)blockIdx.x * BLOCK + threadIdx.x; i < n;
       i += (unsigned long long)gridDim.x * BLOCK) {
    double row = 0.0;
    for (unsigned long long j = 0; j < n; j++) {
      row = __dadd_rn(row, fabs((double)g[j * ld + i])); // symmetric: column i is row i
    }
    row = row < bound ? bound : row;
    factor[blockIdx.y * n + i] =
        row == 0.0 ? 0.0f : __double2float_rn(__ddiv_rn(1.0, __dsqrt_rn(row)));
  }
}

//: ortho_rescale
// AOL: x times a factor per row, or per column of a tall matrix.
{
  compute *to = x + blockIdx.y * rows * ld;
  const float *f = factor + blockIdx.y * (rows <= cols ? rows : cols);
  for (unsigned long long row = blockIdx.x; row < rows; row += gridDim.x) {
    for (unsigned long long col = threadIdx.x; col < cols; col += BLOCK) {
      const float by = f[rows <= cols ? row : col];
      to[row * ld + col] = narrow_compute(cast(__fmul_rn(widen_compute(to[row * ld + col]), by)));
    }
  }
}

//: ortho_finish
// The results, from rows of `ld` elements to where they belong.
{
  const compute *from = x + blockIdx.y * rows * ld;
  compute *to = out + blockIdx.y * rows * cols;
  for (unsigned long long row = blockIdx.x; row < rows; row += gridDim.x) {
    for (unsigned long long col = threadIdx.x; col < cols; col += BLOCK) {
      to[row * cols + col] = from[row * ld + col];
    }
  }
}
