// A filter of 32 taps over 2,000,000 samples of 16 bits: the work of the job fir.gfx803.O2.large.
#include "common.h"
#include "lanes.h"

enum { N = 2000000, TAPS = 32 };
typedef int16_t Halves __attribute__((vector_size(16)));
static float *taps, *y;
static int16_t *x, *clamped;

static void prepare(void) {
  for (uint32_t i = 0; i < TAPS; i++) taps[i] = uniform(i, 15, -0.2, 0.3);
  for (uint32_t i = 0; i < N; i++) x[i] = (int16_t)(raw(i, 16) >> 16);
}
static void filter(uint32_t i) {
  float sum = 0;
  for (uint32_t k = 0; k < TAPS; k++) sum = fmaf(taps[k], i >= k ? (float)x[i - k] : 0.0f, sum);
  y[i] = sum;
  clamped[i] = (int16_t)(sum > 32767.0f ? 32767.0f : sum < -32768.0f ? -32768.0f : sum);
}
static void work(void) {
  for (uint32_t i = 0; i < N; i++) filter(i);
}
/** The first samples, which have not all of the others before them, go one by one. */
static void workOnLanes(void) {
  for (uint32_t i = 0; i < TAPS; i++) filter(i);
  for (uint32_t i = TAPS; i < N; i += LANES) {
    Floats sum = {0};
    for (uint32_t k = 0; k < TAPS; k++) {
      Halves samples;
      memcpy(&samples, x + i - k, sizeof samples);
      sum = fma8(splat(taps[k]), __builtin_convertvector(samples, Floats), sum);
    }
    store(y + i, sum);
    const Floats high = splat(32767.0f), low = splat(-32768.0f);
    const Floats within = choose(sum > high, high, choose(sum < low, low, sum));
    const Halves words = __builtin_convertvector(__builtin_convertvector(within, Ints), Halves);
    memcpy(clamped + i, &words, sizeof words);
  }
}

int main(void) {
  taps = buffer(sizeof *taps * TAPS);
  x = buffer(sizeof *x * N);
  y = buffer(sizeof *y * N);
  clamped = buffer(sizeof *clamped * N);
  return measure(y, sizeof *y * N);
}
