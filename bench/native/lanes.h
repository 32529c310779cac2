// Eight lanes at a time: vectors of 256 bits in the notation that gcc and clang share, and the few operations that it lacks.
#ifndef LANES_H
#define LANES_H
#include <math.h>
#include <stdint.h>
#include <string.h>
#ifdef __AVX__
#include <immintrin.h>
#endif

enum { LANES = 8 };
typedef float Floats __attribute__((vector_size(32)));
typedef int32_t Ints __attribute__((vector_size(32)));
typedef uint32_t Words __attribute__((vector_size(32)));

static inline Floats splat(float x) { return (Floats){x, x, x, x, x, x, x, x}; }
static inline Floats load(const float *p) {
  Floats v;
  memcpy(&v, p, sizeof v);
  return v;
}
static inline void store(float *p, Floats v) { memcpy(p, &v, sizeof v); }

/** a * b + c, rounded once. */
static inline Floats fma8(Floats a, Floats b, Floats c) {
#ifdef __FMA__
  return (Floats)_mm256_fmadd_ps((__m256)a, (__m256)b, (__m256)c);
#else
  for (int k = 0; k < LANES; k++) c[k] = fmaf(a[k], b[k], c[k]);
  return c;
#endif
}
/** 1 / sqrt(x), to about 22 bits: the machine's estimate and one step of Newton's. */
static inline Floats rsqrt8(Floats x) {
#ifdef __AVX__
  const Floats r = (Floats)_mm256_rsqrt_ps((__m256)x);
  return r * (splat(1.5f) - splat(0.5f) * x * r * r);
#else
  for (int k = 0; k < LANES; k++) x[k] = 1.0f / sqrtf(x[k]);
  return x;
#endif
}
/** Whether a lane of a comparison's result is true. */
static inline int any(Ints mask) {
#ifdef __AVX__
  return _mm256_movemask_ps((__m256)mask);
#else
  int bits = 0;
  for (int k = 0; k < LANES; k++) bits |= mask[k];
  return bits;
#endif
}
/** Lanes of `a` where the mask is true, else of `b`. */
static inline Floats choose(Ints mask, Floats a, Floats b) { return (Floats)((mask & (Ints)a) | (~mask & (Ints)b)); }
#endif
