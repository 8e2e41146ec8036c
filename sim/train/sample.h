/* sample.h - new text from a trained net: one token after the other.
 *
 * The net reads the last T tokens, or fewer at the beginning, from its first place on; places behind them hold token 0,
 * which a causal net does not see. The outputs z (C) of the last place give the next token:
 *
 *  - temperature 0: the largest output, the first one of equals
 *  - temperature t > 0: weights w[i] = e^((z[i] - largest) / t) in binary64 (kernels/functions/elementary.h), and their
 *    sums S[i] = w[0] + ... + w[i] in this order; the token is the first i with S[i] > (word + 1/2) 2^-32 S[C - 1],
 *    where `word` is random word number k of the stream of samples for token k
 *
 * Roundings of the forward pass for token k take the random words of sample n + k behind the n samples of the data.
 */
#ifndef ULP_SAMPLE_H
#define ULP_SAMPLE_H

#include "train.h"

ULP_C_BEGIN

typedef struct ulp_sampling {
    double temperature; /* 0 or more */
    uint64_t seed;
} ulp_sampling;

/* Append tokens to token (count): those from `given` on are new, and given is at least 1. The data of the trainer have
 * to be tokens and the net a row of outputs for each of them. ULP_UNSUPPORTED if not; ULP_BAD_ARGUMENT for a
 * temperature that is negative or not finite; ULP_NO_MEMORY. */
ulp_status ulp_trainer_sample(ulp_trainer *trainer, uint8_t *token, size_t given, size_t count, ulp_sampling how);

/* z (T,C), host memory = the outputs after each place of n tokens, n <= T; the places behind them hold token 0.
 * Roundings take the random words of sample `sample`. */
ulp_status ulp_trainer_outputs(ulp_trainer *trainer, float *z, const uint8_t *token, size_t n, uint64_t sample);

/* The place of the largest of z (C), the first one of equals. */
size_t ulp_likeliest(const float *z, size_t C);

ULP_C_END
#endif
