// Product of two 512 × 512 matrices: the work of the job matmul_naive.gfx803.O2.large.
#include "common.h"
#include "lanes.h"
#include <math.h>

enum { N = 512 };
static float *a, *b, *c;

static void prepare(void) {
  for (uint32_t i = 0; i < N * N; i++) {
    a[i] = uniform(i, 5, -1, 1);
    b[i] = uniform(i, 6, -1, 1);
  }
}
static void work(void) {
  for (uint32_t y = 0; y < N; y++)
    for (uint32_t x = 0; x < N; x++) {
      float sum = 0;
      for (uint32_t k = 0; k < N; k++) sum = fmaf(a[y * N + k], b[k * N + x], sum);
      c[y * N + x] = sum;
    }
}
/** Blocks of 4 × 16 elements in registers; every element is the same sum in the same order. */
static void workOnLanes(void) {
  for (uint32_t x = 0; x < N; x += 2 * LANES)
    for (uint32_t y = 0; y < N; y += 4) {
      Floats sum[4][2] = {{{0}}};
      for (uint32_t k = 0; k < N; k++) {
        const Floats left = load(b + k * N + x), right = load(b + k * N + x + LANES);
        for (uint32_t row = 0; row < 4; row++) {
          const Floats factor = splat(a[(y + row) * N + k]);
          sum[row][0] = fma8(factor, left, sum[row][0]);
          sum[row][1] = fma8(factor, right, sum[row][1]);
        }
      }
      for (uint32_t row = 0; row < 4; row++) {
        store(c + (y + row) * N + x, sum[row][0]);
        store(c + (y + row) * N + x + LANES, sum[row][1]);
      }
    }
}

int main(void) {
  a = buffer(sizeof *a * N * N);
  b = buffer(sizeof *b * N * N);
  c = buffer(sizeof *c * N * N);
  return measure(c, sizeof *c * N * N);
}
