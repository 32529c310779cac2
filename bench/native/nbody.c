// One step of gravity among 16384 bodies: the work of the job nbody.gfx803.O2.large. The results are not exactly those of the job, whose
// reciprocal square root is v_rsq_f32.
#include "common.h"
#include "lanes.h"
#include <math.h>

enum { N = 16384 };
typedef struct {
  float x, y, z, w;
} Vector;
static Vector *position, *velocity, *next;

static void fill(Vector *v, uint32_t seed, double lo, double hi) {
  float *f = &v->x;
  for (uint32_t i = 0; i < 4 * N; i++) f[i] = uniform(i, seed, lo, hi);
}
static void prepare(void) {
  fill(position, 3, 0.1, 1.1);
  fill(velocity, 4, -0.5, 0.5);
}
static const float DT = 0.01f, SOFTENING = 0.01f;
/** Moves body i by its acceleration. */
static void step(uint32_t i, float ax, float ay, float az) {
  const Vector p = position[i];
  Vector v = velocity[i];
  v.x = fmaf(ax, DT, v.x);
  v.y = fmaf(ay, DT, v.y);
  v.z = fmaf(az, DT, v.z);
  velocity[i] = v;
  next[i] = (Vector){fmaf(v.x, DT, p.x), fmaf(v.y, DT, p.y), fmaf(v.z, DT, p.z), p.w};
}
static void pull(uint32_t i) {
  const Vector p = position[i];
  float ax = 0, ay = 0, az = 0;
  for (uint32_t j = 0; j < N; j++) {
    const Vector q = position[j];
    const float dx = q.x - p.x, dy = q.y - p.y, dz = q.z - p.z;
    const float d2 = fmaf(dx, dx, fmaf(dy, dy, fmaf(dz, dz, SOFTENING)));
    const float r = 1.0f / sqrtf(d2), s = q.w * r * r * r;
    ax = fmaf(dx, s, ax);
    ay = fmaf(dy, s, ay);
    az = fmaf(dz, s, az);
  }
  step(i, ax, ay, az);
}
static void work(void) {
  for (uint32_t i = 0; i < N; i++) pull(i);
}
static void pullOnLanes(uint32_t i) {
  Floats px, py, pz, ax = {0}, ay = {0}, az = {0};
  for (uint32_t k = 0; k < LANES; k++) px[k] = position[i + k].x, py[k] = position[i + k].y, pz[k] = position[i + k].z;
  for (uint32_t j = 0; j < N; j++) {
    const Vector q = position[j];
    const Floats dx = splat(q.x) - px, dy = splat(q.y) - py, dz = splat(q.z) - pz;
    const Floats r = rsqrt8(fma8(dx, dx, fma8(dy, dy, fma8(dz, dz, splat(SOFTENING)))));
    const Floats s = splat(q.w) * r * r * r;
    ax = fma8(dx, s, ax);
    ay = fma8(dy, s, ay);
    az = fma8(dz, s, az);
  }
  for (uint32_t k = 0; k < LANES; k++) step(i + k, ax[k], ay[k], az[k]);
}
static void workOnLanes(void) {
  for (uint32_t i = 0; i < N; i += LANES) pullOnLanes(i);
}

int main(void) {
  position = buffer(sizeof *position * N);
  velocity = buffer(sizeof *velocity * N);
  next = buffer(sizeof *next * N);
  return measure(next, sizeof *next * N);
}
