// SHA-256 of 65536 messages of 64 bytes, each digest hashed again 16 times: the work of the job sha256.gfx803.O2.large.
// FIPS 180-4, "Secure Hash Standard".
#include "common.h"
#include "lanes.h"

enum { MESSAGES = 65536, AGAIN = 16 };
static uint32_t *messages, *digests;

static const uint32_t K[64] = {
  0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5, 0xd807aa98, 0x12835b01, 0x243185be,
  0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa,
  0x5cb0a9dc, 0x76f988da, 0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967, 0x27b70a85,
  0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85, 0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3,
  0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070, 0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f,
  0x682e6ff3, 0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
};
static const uint32_t START[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};

/** The compression function for one block a lane; `Word` is a word or eight of them. */
#define COMPRESS(name, Word)                                                                                                              \
  static void name(Word s[8], Word w[16]) {                                                                                               \
    Word a = s[0], b = s[1], c = s[2], d = s[3], e = s[4], f = s[5], g = s[6], h = s[7];                                                   \
    for (unsigned i = 0; i < 64; i++) {                                                                                                    \
      if (i >= 16) {                                                                                                                       \
        const Word x = w[(i + 1) & 15], y = w[(i + 14) & 15];                                                                              \
        w[i & 15] += (ROTATE(x, 7) ^ ROTATE(x, 18) ^ (x >> 3)) + w[(i + 9) & 15] + (ROTATE(y, 17) ^ ROTATE(y, 19) ^ (y >> 10));              \
      }                                                                                                                                    \
      const Word t1 = h + (ROTATE(e, 6) ^ ROTATE(e, 11) ^ ROTATE(e, 25)) + ((e & f) ^ (~e & g)) + K[i] + w[i & 15];                           \
      const Word t2 = (ROTATE(a, 2) ^ ROTATE(a, 13) ^ ROTATE(a, 22)) + ((a & b) ^ (a & c) ^ (b & c));                                         \
      h = g, g = f, f = e, e = d + t1, d = c, c = b, b = a, a = t1 + t2;                                                                   \
    }                                                                                                                                      \
    s[0] += a, s[1] += b, s[2] += c, s[3] += d, s[4] += e, s[5] += f, s[6] += g, s[7] += h;                                                 \
  }

/** Hashes the message in `w`, and then the digest AGAIN times; the digest is left in `s`. */
#define HASH(name, Word, compress)                                                                                                         \
  static void name(Word s[8], Word w[16]) {                                                                                               \
    const Word zero = w[0] ^ w[0];                                                                                                         \
    for (unsigned k = 0; k < 8; k++) s[k] = zero + START[k];                                                                               \
    compress(s, w);                                                                                                                        \
    for (unsigned k = 0; k < 16; k++) w[k] = zero + (k == 0 ? 0x80000000u : k == 15 ? 512 : 0);                                            \
    compress(s, w);                                                                                                                        \
    for (unsigned again = 0; again < AGAIN; again++) {                                                                                     \
      for (unsigned k = 0; k < 8; k++) w[k] = s[k], s[k] = zero + START[k];                                                                \
      for (unsigned k = 8; k < 16; k++) w[k] = zero + (k == 8 ? 0x80000000u : k == 15 ? 256 : 0);                                          \
      compress(s, w);                                                                                                                      \
    }                                                                                                                                      \
  }

#define ROTATE(x, n) (((x) >> (n)) | ((x) << (32 - (n))))
COMPRESS(compress, uint32_t)
COMPRESS(compressOnLanes, Words)
HASH(hash, uint32_t, compress)
HASH(hashOnLanes, Words, compressOnLanes)

static uint32_t swap(uint32_t x) { return (ROTATE(x, 24) & 0x00ff00ffu) | (ROTATE(x, 8) & 0xff00ff00u); }

static void prepare(void) {
  for (uint32_t i = 0; i < 16 * MESSAGES; i++) messages[i] = raw(i, 13);
}
static void work(void) {
  for (uint32_t i = 0; i < MESSAGES; i++) {
    uint32_t s[8], w[16];
    for (uint32_t k = 0; k < 16; k++) w[k] = swap(messages[16 * i + k]);
    hash(s, w);
    for (uint32_t k = 0; k < 8; k++) digests[8 * i + k] = swap(s[k]);
  }
}
static void workOnLanes(void) {
  for (uint32_t i = 0; i < MESSAGES; i += LANES) {
    Words s[8], w[16];
    for (uint32_t k = 0; k < 16; k++)
      for (uint32_t lane = 0; lane < LANES; lane++) w[k][lane] = swap(messages[16 * (i + lane) + k]);
    hashOnLanes(s, w);
    for (uint32_t k = 0; k < 8; k++)
      for (uint32_t lane = 0; lane < LANES; lane++) digests[8 * (i + lane) + k] = swap(s[k][lane]);
  }
}

int main(void) {
  messages = buffer(sizeof *messages * 16 * MESSAGES);
  digests = buffer(sizeof *digests * 8 * MESSAGES);
  return measure(digests, sizeof *digests * 8 * MESSAGES);
}
