// Product of two 512 × 512 matrices, one element after another: the work of the job matmul_naive.gfx803.O2.large.
#include "common.h"
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

int main(void) {
  a = buffer(sizeof *a * N * N);
  b = buffer(sizeof *b * N * N);
  c = buffer(sizeof *c * N * N);
  return measure(c, sizeof *c * N * N);
}
