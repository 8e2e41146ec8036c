/* words.h - ulp vectors: known words of the generator of random bits. */
#ifndef ULP_TOOL_VECTORS_WORDS_H
#define ULP_TOOL_VECTORS_WORDS_H

#include "file.h"

/* Write words.csv and words.npz: words of ULP_RNG_NAME as a function of seed, stream and index. Returns ULP_GO_ON, or
 * the exit status after a message. */
int vectors_words(const vectors_request *request);

#endif
