/* shared.cpp - shared memory of the emulated device: addresses, and operands of instructions. */
#include "tensor.h"

#include <string.h>

using namespace tensor;

/* ---- addresses ---- */

namespace {

/* Addresses of shared memory have 18 bits: offsets in a window around the first array that a launch asks for. */
char *window;
unsigned window_launch;
enum { WINDOW = 1 << 18, MARGIN = 1 << 16 };

} // namespace

uint32_t ulp_emulated_shared_address(const void *p) {
    char *at = static_cast<char *>(const_cast<void *>(p));
    if (window_launch != ulp_emulated_launches) window = at - ((uintptr_t)at % 1024 + MARGIN);
    window_launch = ulp_emulated_launches;
    if (at < window || at >= window + WINDOW) fail("shared memory too far apart for descriptors");
    return (uint32_t)(at - window);
}

const unsigned char *tensor::shared_bytes(unsigned address) {
    if (address >= WINDOW) fail("an address outside shared memory");
    return reinterpret_cast<const unsigned char *>(window) + address;
}

void tensor::operand_row(unsigned char *to, uint64_t descriptor, unsigned r) {
    const unsigned base = (unsigned)(descriptor & 0x3fff) << 4, leading = (unsigned)(descriptor >> 16 & 0x3fff) << 4,
                   stride = (unsigned)(descriptor >> 32 & 0x3fff) << 4;
    for (unsigned half = 0; half < 2; half++)
        memcpy(to + 16 * half, shared_bytes(base + (r >> 3) * stride + half * leading + (r & 7) * 16), 16);
}
