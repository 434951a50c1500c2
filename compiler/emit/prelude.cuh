// Device helpers of generated kernels. The compiler pastes the sections that a kernel uses, in this order; `//: NAME`
// begins one. What a kernel says before it: BLOCK, LANES, VECTORS, STRIDE, TURN, TILE, the types of 16 bits that it
// uses and its `struct row`.
// Every rounding is an explicit intrinsic: bits do not depend on compiler flags (DESIGN section 4).

//: row
// The row that holds a tile: the last one that does not begin after it. Tiles come in growing order, so the search
// begins at the row of the tile before. Rows of one tile each are found at once.
static __device__ __forceinline__ unsigned
find_row(const struct row *rows, unsigned n_rows, unsigned row, unsigned tile) {
  const unsigned ahead = tile - rows[row].first_tile;
  if (ahead < n_rows - row && rows[row + ahead].first_tile <= tile) {
    row += ahead;
  }
  if (row + 1 == n_rows || tile < rows[row + 1].first_tile) {
    return row;
  }
  unsigned end = n_rows;
  while (end - row > 1) {
    const unsigned middle = row + (end - row) / 2;
    if (rows[middle].first_tile <= tile) {
      row = middle;
    } else {
      end = middle;
    }
  }
  return row;
}

// The tile behind a row's last.
static __device__ __forceinline__ unsigned end_of(const struct row *t) {
  return t->first_tile + (unsigned)((t->numel + TILE - 1) / TILE);
}

// The elements that a block takes at once from element `at` of a row on.
static __device__ __forceinline__ unsigned turn_size(const struct row *t,
                                                     unsigned long long at) {
  return t->numel - at < TURN ? (unsigned)(t->numel - at) : TURN;
}

// The elements of this thread's k-th group of those n.
static __device__ __forceinline__ unsigned group_size(unsigned n, unsigned k) {
  const unsigned at = k * STRIDE + threadIdx.x * LANES;
  return n <= at ? 0 : n - at < LANES ? n - at : LANES;
}

//: in_global
// Says that an address is of device memory, which the compiler cannot see in a table: it need not tell spaces apart.
template <class T> static __device__ __forceinline__ T *in_global(T *p) {
  __builtin_assume(__isGlobal(p));
  return p;
}

//: left_out
// A parameter without a gradient takes no part; initial states have no gradients at all.
static __device__ __forceinline__ bool is_left_out(const void *const *grads,
                                                   unsigned param) {
  return grads != nullptr && grads[param] == nullptr;
}

// The first tile of this block that is not before `end`.
static __device__ __forceinline__ unsigned skip_to(unsigned tile, unsigned end) {
  return tile + (end - tile + gridDim.x - 1) / gridDim.x * gridDim.x;
}

//: verdict
struct verdict {
  float clip;
  unsigned skip;
  double norm;
};

//: wide
// May groups be read and written in one access? 16 bytes of f32, 8 of 16-bit types.
template <class T> static __device__ __forceinline__ bool is_wide(const T *p) {
  return (unsigned long long)p % (LANES * sizeof(T)) == 0;
}

//: read_f32
// All LANES elements.
static __device__ __forceinline__ void read_all(float *x, const float *p) {
#pragma unroll
  for (int i = 0; i < LANES; i += 4) {
    const float4 v = *(const float4 *)(p + i);
    x[i] = v.x;
    x[i + 1] = v.y;
    x[i + 2] = v.z;
    x[i + 3] = v.w;
  }
}

static __device__ __forceinline__ float read_one(const float *p) {
  return *p;
}

//: write_f32
static __device__ __forceinline__ void write_all(float *p, const float *x) {
#pragma unroll
  for (int i = 0; i < LANES; i += 4) {
    *(float4 *)(p + i) = make_float4(x[i], x[i + 1], x[i + 2], x[i + 3]);
  }
}

static __device__ __forceinline__ void write_one(float *p, float x) {
  *p = x;
}

//: read_bf16
static __device__ __forceinline__ float widen(enum bf16 x) {
  return __uint_as_float((unsigned)x << 16);
}

//: read_f16
// Exact, integer code but for one exact product: with the exponent in its place, what is missing is a factor of 2^112.
static __device__ __forceinline__ float widen(enum f16 x) {
  const float magnitude =
      __fmul_rn(__uint_as_float((x & 0x7fffu) << 13), 0x1p112f); // denormals, too
  const unsigned special = (x & 0x7c00u) == 0x7c00u ? 0x7f800000u : 0u;
  return __uint_as_float(__float_as_uint(magnitude) | special | (x & 0x8000u) << 16);
}

//: read_16
template <class T>
static __device__ __forceinline__ void read_all(float *x, const T *p) {
#pragma unroll
  for (int i = 0; i < LANES; i += 4) {
    const uint2 v = *(const uint2 *)(p + i);
    x[i] = widen((T)(v.x & 0xffffu));
    x[i + 1] = widen((T)(v.x >> 16));
    x[i + 2] = widen((T)(v.y & 0xffffu));
    x[i + 3] = widen((T)(v.y >> 16));
  }
}

template <class T> static __device__ __forceinline__ float read_one(const T *p) {
  return widen(*p);
}

//: write_bf16
// The value is rounded already: what is cut off is zero.
static __device__ __forceinline__ unsigned narrow(float x) {
  return __float_as_uint(x) >> 16;
}

static __device__ __forceinline__ void write_all(enum bf16 *p, const float *x) {
#pragma unroll
  for (int i = 0; i < LANES; i += 4) {
    *(uint2 *)(p + i) = make_uint2(narrow(x[i]) | narrow(x[i + 1]) << 16,
                                   narrow(x[i + 2]) | narrow(x[i + 3]) << 16);
  }
}

static __device__ __forceinline__ void write_one(enum bf16 *p, float x) {
  *p = (enum bf16)narrow(x);
}

//: read_some
// The first n elements of a group.
template <class T>
static __device__ __forceinline__ void read_some(float *x, const T *p, unsigned n) {
  if (n == LANES && is_wide(p)) {
    read_all(x, p);
    return;
  }
#pragma unroll
  for (unsigned j = 0; j < LANES; j++) {
    if (j < n) {
      x[j] = read_one(p + j);
    }
  }
}

//: write_some
template <class T>
static __device__ __forceinline__ void write_some(T *p, const float *x, unsigned n) {
  if (n == LANES && is_wide(p)) {
    write_all(p, x);
    return;
  }
#pragma unroll
  for (unsigned j = 0; j < LANES; j++) {
    if (j < n) {
      write_one(p + j, x[j]);
    }
  }
}

//: round_bf16
// To bf16 and back: to nearest even; every NaN becomes 0x7fc0. Integer code, so that denormals are kept.
static __device__ __forceinline__ float round_bf16(float x) {
  const unsigned u = __float_as_uint(x);
  const unsigned rounded = (u + 0x7fffu + ((u >> 16) & 1u)) & 0xffff0000u;
  return __uint_as_float(x != x ? 0x7fc00000u : rounded);
}

//: sign
static __device__ __forceinline__ float sign(float x) {
  return x > 0.0f ? 1.0f : x < 0.0f ? -1.0f : x != x ? x : 0.0f;
}

//: minimum
// NaN passes on; -0 < +0. Equal values differ in their sign bit at most.
static __device__ __forceinline__ float minimum(float a, float b) {
  if (a != a || b != b) {
    return __fadd_rn(a, b);
  }
  if (a == b) {
    return __uint_as_float(__float_as_uint(a) | __float_as_uint(b));
  }
  return a < b ? a : b;
}

//: maximum
// NaN passes on; -0 < +0. Equal values differ in their sign bit at most.
static __device__ __forceinline__ float maximum(float a, float b) {
  if (a != a || b != b) {
    return __fadd_rn(a, b);
  }
  if (a == b) {
    return __uint_as_float(__float_as_uint(a) & __float_as_uint(b));
  }
  return a > b ? a : b;
}

//: binned
// A sum that does not depend on order: terms exact in double go into bins at fixed exponents, the two highest occupied
// bins are kept (Demmel and Nguyen 2013; Ahrens, Demmel and Nguyen 2020). Bin i counts in units of 2^(40 i) and takes
// terms below 2^(40 i + 39). `carry` counts multiples of 2^50 units.
enum { BIN_WIDTH = 40, BIN_MIN = -23 };
enum { SAW_NAN = 1, SAW_INF = 2 };

struct binned {
  double sum[2], carry[2]; // of the bins `top` and `top` - 1
  int top;
  unsigned specials; // SAW_...
};

static __device__ __forceinline__ double power_of_2(int e) {
  return __longlong_as_double((long long)(e + 1023) << 52);
}

static __device__ __forceinline__ void clear(struct binned *b) {
  b->sum[0] = b->sum[1] = b->carry[0] = b->carry[1] = 0.0;
  b->top = BIN_MIN;
  b->specials = 0;
}

// Moves whole multiples of 2^50 units to the carry.
static __device__ __forceinline__ void renormalize(struct binned *b, int k) {
  const int e = (b->top - k) * BIN_WIDTH + 50;
  const double whole = floor(__dadd_rn(__dmul_rn(b->sum[k], power_of_2(-e)), 0.5));
  b->sum[k] = __dsub_rn(b->sum[k], __dmul_rn(whole, power_of_2(e)));
  b->carry[k] = __dadd_rn(b->carry[k], whole);
}

// A larger term came: bins that are no longer among the two highest are dropped.
static __device__ __forceinline__ void raise(struct binned *b, int top) {
  const bool next = b->top == top - 1;
  b->sum[1] = next ? b->sum[0] : 0.0;
  b->carry[1] = next ? b->carry[0] : 0.0;
  b->sum[0] = b->carry[0] = 0.0;
  b->top = top;
}

static __device__ __forceinline__ void merge(struct binned *into,
                                             const struct binned *from) {
  into->specials |= from->specials;
  if (from->top > into->top) {
    raise(into, from->top);
  }
  const int shift = into->top - from->top;
#pragma unroll
  for (int k = 0; k < 2; k++) {
    if (k >= shift) {
      const bool same = shift == 0;
      into->sum[k] = __dadd_rn(into->sum[k], same ? from->sum[k] : from->sum[0]);
      into->carry[k] = __dadd_rn(into->carry[k], same ? from->carry[k] : from->carry[0]);
      renormalize(into, k);
    }
  }
}

// The sums of a block's threads in thread 0.
static __device__ __forceinline__ void merge_block(struct binned *b) {
  __shared__ struct binned share[BLOCK];
  share[threadIdx.x] = *b;
  for (unsigned half = BLOCK / 2; half > 0; half /= 2) {
    __syncthreads();
    if (threadIdx.x < half) {
      merge(&share[threadIdx.x], &share[threadIdx.x + half]);
    }
  }
  *b = share[threadIdx.x];
}

//: squares
// Adding a term to it rounds the term to the bin's unit.
static __device__ __forceinline__ double anchor(int bin) {
  return __dmul_rn(1.5, power_of_2(bin * BIN_WIDTH + 52));
}

// The bin where x, not 0, is at least half a unit and less than 2^39 units.
static __device__ __forceinline__ int bin_of(double x) {
  const int above = (int)(__double_as_longlong(x) >> 52 & 0x7ff) - 1022; // x < 2^above
  const int bin = (above + BIN_WIDTH * 64) / BIN_WIDTH - 64;             // rounds down
  return bin < BIN_MIN ? BIN_MIN : bin;
}

// A thread's sum while it adds: `high` and `low` are the two sums plus their bins' anchors.
struct adder {
  struct binned sum; // but for its two sums
  double high, low;
};

static __device__ __forceinline__ void open(struct adder *a) {
  a->high = __dadd_rn(anchor(a->sum.top), a->sum.sum[0]);
  a->low = __dadd_rn(anchor(a->sum.top - 1), a->sum.sum[1]);
}

static __device__ __forceinline__ void close(struct adder *a) {
  a->sum.sum[0] = __dsub_rn(a->high, anchor(a->sum.top));
  a->sum.sum[1] = __dsub_rn(a->low, anchor(a->sum.top - 1));
  renormalize(&a->sum, 0);
  renormalize(&a->sum, 1);
}

// The largest magnitude, as bits: magnitudes are ordered like the integers.
static __device__ __forceinline__ unsigned largest_of(const float *x) {
  unsigned largest = 0;
#pragma unroll
  for (int i = 0; i < VALUES; i++) {
    const unsigned magnitude = __float_as_uint(x[i]) & 0x7fffffffu;
    largest = magnitude > largest ? magnitude : largest;
  }
  return largest;
}

// Notes NaN and Inf and puts zeros in their place.
static __device__ __forceinline__ void take_specials(struct binned *b, float *x) {
#pragma unroll
  for (int i = 0; i < VALUES; i++) {
    const unsigned magnitude = __float_as_uint(x[i]) & 0x7fffffffu;
    if (magnitude >= 0x7f800000u) {
      b->specials |= magnitude > 0x7f800000u ? SAW_NAN : SAW_INF;
      x[i] = 0.0f;
    }
  }
}

// Adds x * x for VALUES values. At most 1024 terms between open and close. A square is never half way between two
// multiples of a unit, where rounding would look at the sum: its last bit has an even exponent, half a unit an odd one.
static __device__ __forceinline__ void add_squares(struct adder *a, float *x) {
  unsigned largest = largest_of(x);
  if (largest >= 0x7f800000u) {
    take_specials(&a->sum, x);
    largest = largest_of(x);
  }
  const double most = __uint_as_float(largest);
  const int bin = bin_of(__dmul_rn(most, most));
  if (bin > a->sum.top) {
    close(a);
    raise(&a->sum, bin);
    open(a);
  }
#pragma unroll
  for (int i = 0; i < VALUES; i++) {
    const double term = __dmul_rn(x[i], x[i]); // exact: 48 bits
    const double high = __dadd_rn(a->high, term);
    const double rest = __dadd_rn(term, __dsub_rn(a->high, high));
    a->high = high;
    a->low = __dadd_rn(a->low, rest);
  }
}

//: value
// The sum of terms that are not negative, rounded once. In units of the lower bin it is an integer below 2^126.
static __device__ __forceinline__ double value_of(const struct binned *b) {
  if (b->specials != 0) {
    return __longlong_as_double(b->specials & SAW_NAN ? 0x7ff8000000000000
                                                      : 0x7ff0000000000000);
  }
  const int e = (b->top - 1) * BIN_WIDTH;
  const double lower = power_of_2(e);
  const long long carry = (long long)b->carry[0];
  // t counts units of the upper bin, s of the lower.
  const long long t = (long long)__dmul_rn(b->sum[0], power_of_2(-e - BIN_WIDTH)) +
                      (long long)__dmul_rn(b->carry[1], 1024.0);
  const long long s = (long long)__dmul_rn(b->sum[1], power_of_2(-e));
  // carry * 2^90 + t * 2^40 + s in two words, two's complement
  const unsigned long long lo =
      (unsigned long long)t * (1ull << 40) + (unsigned long long)s;
  const long long hi =
      carry * (1ll << 26) + (t >> 24) + (s >> 63) + (lo < (unsigned long long)s);
  if (hi == 0) {
    return __dmul_rn(__ull2double_rn(lo), lower);
  }
  // The bits that do not fit one word: 1 to 63. Whether any of them is set decides ties.
  const int shift = 64 - __clzll(hi);
  const unsigned long long lost = lo << (64 - shift);
  const unsigned long long word =
      (unsigned long long)hi << (64 - shift) | lo >> shift | (lost != 0);
  return __dmul_rn(__dmul_rn(__ull2double_rn(word), power_of_2(shift)), lower);
}
