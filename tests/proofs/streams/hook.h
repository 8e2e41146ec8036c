/* hook.h - included before a source of sim/ that draws random words on the host: each word that it draws is recorded.
 *
 * The test of streams compiles these sources once more with this file before their first line. ulp_random_word() and
 * ulp_random_uniform() then call streams_drawn() with the place of the word; the words stay the same.
 */
#ifndef ULP_TESTS_HOOK_H
#define ULP_TESTS_HOOK_H

#include "formats/rng.h"

void streams_drawn(ulp_stream stream, uint64_t i);

static inline uint32_t streams_word(ulp_stream stream, uint64_t i) {
    streams_drawn(stream, i);
    return ulp_random_word(stream, i);
}

static inline double streams_uniform(ulp_stream stream, uint64_t i) {
    streams_drawn(stream, i);
    return ulp_random_uniform(stream, i);
}

#define ulp_random_word streams_word
#define ulp_random_uniform streams_uniform

#endif
