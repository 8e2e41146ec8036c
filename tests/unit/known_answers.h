/* known_answers.h - the known answers of Random123 to philox4x32 with 10 rounds: counter, key, output. */
#ifndef ULP_TESTS_KNOWN_ANSWERS_H
#define ULP_TESTS_KNOWN_ANSWERS_H

#include <stdint.h>

/* D. E. Shaw Research, version 1.14.0, tests/kat_vectors. */
static const struct known {
    uint32_t counter[4], key[2], output[4];
} known[] = {
    {{0, 0, 0, 0}, {0, 0}, {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}},
    {{0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff},
     {0xffffffff, 0xffffffff},
     {0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}},
    {{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344},
     {0xa4093822, 0x299f31d0},
     {0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}},
};
enum { KNOWN = COUNT_OF(known) };

static inline uint64_t join(uint32_t low, uint32_t high) { return (uint64_t)high << 32 | low; }

#endif
