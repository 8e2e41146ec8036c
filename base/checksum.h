/* checksum.h - CRC-32, a checksum that detects damaged files. */
#ifndef ULP_CHECKSUM_H
#define ULP_CHECKSUM_H

#include <stddef.h>
#include <stdint.h>

#include "formats/c_linkage.h"

ULP_C_BEGIN

/* CRC-32 of ISO 3309, like crc32() of zlib. `crc` is 0 for the first part of the data, then the result for the parts so
 * far. */
uint32_t ulp_crc32(uint32_t crc, const void *data, size_t n);

ULP_C_END

#endif
