// A stencil of 7 points over 160 × 160 × 160 elements, edges copied: the work of the job stencil3d.gfx803.O2.large.
#include "common.h"
#include "lanes.h"

enum { N = 160, ROW = N, PLANE = N * N, ALL = N * N * N };
static const float CENTRE = 0.4f, AROUND = 0.1f;
static float *in, *out;

static void prepare(void) {
  for (uint32_t i = 0; i < ALL; i++) in[i] = uniform(i, 14, -1, 1);
}
static int inside(uint32_t x) { return x > 0 && x + 1 < N; }
static void point(uint32_t x, uint32_t y, uint32_t z) {
  const float *p = in + z * PLANE + y * ROW + x;
  float v = *p;
  if (inside(x) && inside(y) && inside(z))
    v = CENTRE * v + AROUND * (p[-1] + p[1] + p[-ROW] + p[ROW] + p[-PLANE] + p[PLANE]);
  out[p - in] = v;
}
static void work(void) {
  for (uint32_t z = 0; z < N; z++)
    for (uint32_t y = 0; y < N; y++)
      for (uint32_t x = 0; x < N; x++) point(x, y, z);
}
static void rowOnLanes(uint32_t y, uint32_t z) {
  uint32_t x = 0;
  if (inside(y) && inside(z))
    for (point(x++, y, z); x + LANES < N; x += LANES) {
      const float *p = in + z * PLANE + y * ROW + x;
      const Floats sum = load(p - 1) + load(p + 1) + load(p - ROW) + load(p + ROW) + load(p - PLANE) + load(p + PLANE);
      store(out + (p - in), splat(CENTRE) * load(p) + splat(AROUND) * sum);
    }
  for (; x < N; x++) point(x, y, z);
}
static void workOnLanes(void) {
  for (uint32_t z = 0; z < N; z++)
    for (uint32_t y = 0; y < N; y++) rowOnLanes(y, z);
}

int main(void) {
  in = buffer(sizeof *in * ALL);
  out = buffer(sizeof *out * ALL);
  return measure(out, sizeof *out * ALL);
}
