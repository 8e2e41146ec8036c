/* sha256.h - the hash SHA-256 of FIPS 180-4, section 6.2. */
#ifndef ULP_TOOL_SHA256_H
#define ULP_TOOL_SHA256_H

#include <stddef.h>
#include <stdint.h>

enum { SHA256_BLOCK = 64, SHA256_TEXT = 65 }; /* bytes of a block; characters of a hash in hex, with the NUL */

/* The state after the bytes so far. */
typedef struct sha256 {
    uint32_t h[8];
    uint64_t bytes;
    uint8_t block[SHA256_BLOCK]; /* the last bytes % SHA256_BLOCK bytes */
} sha256;

void sha256_begin(sha256 *s);
void sha256_add(sha256 *s, const void *data, size_t bytes);

/* The hash of the bytes so far in lower-case hex. Ends the state. */
void sha256_end(sha256 *s, char text[SHA256_TEXT]);

#endif
