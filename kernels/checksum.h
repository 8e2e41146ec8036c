/* checksum.h - CRC-32, which tells a damaged file from a whole one. */
#ifndef ULP_CHECKSUM_H
#define ULP_CHECKSUM_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* CRC-32 of ISO 3309, as zlib's crc32(): `crc` is 0 at first, then the result so far. */
uint32_t ulp_crc32(uint32_t crc, const void *data, size_t n);

#ifdef __cplusplus
}
#endif

#endif
