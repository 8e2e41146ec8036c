/* checksum.c - CRC-32 by a table of 256 remainders; see checksum.h. */
#include "checksum.h"

uint32_t ulp_crc32(uint32_t crc, const void *data, size_t n) {
    const unsigned char *bytes = data;
    uint32_t table[256];
    for (uint32_t i = 0; i < 256; i++) {
        table[i] = i;
        for (int bit = 0; bit < 8; bit++) table[i] = table[i] >> 1 ^ (table[i] & 1u ? 0xedb88320u : 0u);
    }
    crc = ~crc;
    for (size_t i = 0; i < n; i++) crc = crc >> 8 ^ table[(crc ^ bytes[i]) & 0xffu];
    return ~crc;
}
