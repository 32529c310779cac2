// Escape counts over 1024 × 1024 pixels: the work of the job mandelbrot.gfx803.O2.large.
#include "common.h"
#include "lanes.h"

enum { SIZE = 1024, LIMIT = 1000 };
static const float STEP = 2.5f / SIZE;
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
  for (uint32_t y = 0; y < SIZE; y++)
    for (uint32_t x = 0; x < SIZE; x++) out[y * SIZE + x] = escape(-2.0f + STEP * (float)x, -1.25f + STEP * (float)y);
}

static void workOnLanes(void) {
  for (uint32_t y = 0; y < SIZE; y++)
    for (uint32_t x = 0; x < SIZE; x += LANES) {
      const Floats ci = splat(-1.25f + STEP * (float)y);
      Floats cr, zr = {0}, zi = {0}, rr = {0}, ii = {0};
      for (uint32_t k = 0; k < LANES; k++) cr[k] = -2.0f + STEP * (float)(x + k);
      Ints steps = {0}, active = steps == 0;
      for (uint32_t i = 0; i < LIMIT; i++) {
        active &= rr + ii <= splat(4.0f);
        if (!any(active)) break;
        steps -= active;
        zi = splat(2.0f) * zr * zi + ci;
        zr = rr - ii + cr;
        rr = zr * zr;
        ii = zi * zi;
      }
      memcpy(out + y * SIZE + x, &steps, sizeof steps);
    }
}

int main(void) {
  out = buffer(sizeof *out * SIZE * SIZE);
  return measure(out, sizeof *out * SIZE * SIZE);
}
