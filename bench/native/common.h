// What the programs have in common: the inputs that job files generate, the time, and the hash of the result.
#ifndef COMMON_H
#define COMMON_H
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

// Each program defines how it fills its inputs, and the same work in two forms: one work-item after another, as a compiler finds it,
// and arranged by hand for eight lanes at a time (lanes.h).
static void prepare(void);
static void work(void);
static void workOnLanes(void);

/** The hash behind the generators of job files: element i of a buffer with a seed (host/jobs/generate.ts). */
static inline uint32_t raw(uint32_t i, uint32_t seed) {
  uint32_t x = i + seed * 0x9E3779B9u;
  x ^= x >> 16;
  x *= 0x85EBCA6Bu;
  x ^= x >> 13;
  x *= 0xC2B2AE35u;
  return x ^ (x >> 16);
}
/** A float from lo up to hi. */
static inline float uniform(uint32_t i, uint32_t seed, double lo, double hi) {
  return (float)(lo + (hi - lo) * ((double)(raw(i, seed) >> 8) / 16777216.0));
}

/** 64-bit FNV-1a. */
static inline uint64_t fnv1a64(const void *data, size_t bytes) {
  const unsigned char *p = data;
  uint64_t hash = 0xcbf29ce484222325u;
  for (size_t i = 0; i < bytes; i++) hash = (hash ^ p[i]) * 0x100000001b3u;
  return hash;
}
static inline void *buffer(size_t bytes) {
  void *p = calloc(1, bytes);
  if (p == NULL) exit(1);
  return p;
}

/** Prints the best of three runs in seconds of the CPU, and the hash of the result. */
static inline void time_of(void (*run)(void), void *result, size_t bytes) {
  double best = 1e9;
  for (int turn = 0; turn < 3; turn++) {
    prepare();
    const clock_t start = clock();
    run();
    const double taken = (double)(clock() - start) / CLOCKS_PER_SEC;
    if (taken < best) best = taken;
  }
  printf("%.6f %016llx\n", best, (unsigned long long)fnv1a64(result, bytes));
  memset(result, 0, bytes);
}
/** A line for each form: work-items one by one, then eight lanes by hand. */
static inline int measure(void *result, size_t bytes) {
  time_of(work, result, bytes);
  time_of(workOnLanes, result, bytes);
  return 0;
}
#endif
