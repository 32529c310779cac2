// One step of gravity among 16384 bodies, one after another: the work of the job nbody.gfx803.O2.large. The result is not exactly that of
// the job, whose reciprocal square root is v_rsq_f32.
#include "common.h"
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
static void move(uint32_t i) {
  const float dt = 0.01f, softening = 0.01f;
  const Vector p = position[i];
  Vector v = velocity[i];
  float ax = 0, ay = 0, az = 0;
  for (uint32_t j = 0; j < N; j++) {
    const Vector q = position[j];
    const float dx = q.x - p.x, dy = q.y - p.y, dz = q.z - p.z;
    const float d2 = fmaf(dx, dx, fmaf(dy, dy, fmaf(dz, dz, softening)));
    const float r = 1.0f / sqrtf(d2), s = q.w * r * r * r;
    ax = fmaf(dx, s, ax);
    ay = fmaf(dy, s, ay);
    az = fmaf(dz, s, az);
  }
  v.x = fmaf(ax, dt, v.x);
  v.y = fmaf(ay, dt, v.y);
  v.z = fmaf(az, dt, v.z);
  velocity[i] = v;
  next[i] = (Vector){fmaf(v.x, dt, p.x), fmaf(v.y, dt, p.y), fmaf(v.z, dt, p.z), p.w};
}
static void work(void) {
  for (uint32_t i = 0; i < N; i++) move(i);
}

int main(void) {
  position = buffer(sizeof *position * N);
  velocity = buffer(sizeof *velocity * N);
  next = buffer(sizeof *next * N);
  return measure(next, sizeof *next * N);
}
