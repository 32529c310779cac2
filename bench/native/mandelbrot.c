// Escape counts over 1024 × 1024 pixels, one after another: the work of the job mandelbrot.gfx803.O2.large.
#include "common.h"

enum { SIZE = 1024, LIMIT = 1000 };
static uint32_t *out;

static void prepare(void) {}
static uint32_t escape(float cr, float ci) {
  float zr = 0, zi = 0, rr = 0, ii = 0;
  uint32_t steps = 0;
  while (steps < LIMIT && rr + ii <= 4.0f) {
    zi = 2.0f * zr * zi + ci;
    zr = rr - ii + cr;
    rr = zr * zr;
    ii = zi * zi;
    steps++;
  }
  return steps;
}
static void work(void) {
  const float step = 2.5f / SIZE;
  for (uint32_t y = 0; y < SIZE; y++)
    for (uint32_t x = 0; x < SIZE; x++) out[y * SIZE + x] = escape(-2.0f + step * (float)x, -1.25f + step * (float)y);
}

int main(void) {
  out = buffer(sizeof *out * SIZE * SIZE);
  return measure(out, sizeof *out * SIZE * SIZE);
}
