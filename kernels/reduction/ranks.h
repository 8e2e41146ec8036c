/* ranks.h - the other ranks of a run, as functions that exchange messages with them.
 *
 * The library knows no message-passing system: a program gives it the functions. All ranks call the same functions in
 * the same order, so that every message has a receiver.
 */
#ifndef ULP_RANKS_H
#define ULP_RANKS_H

#include "formats/format.h"

ULP_C_BEGIN

/* A message to or from a rank. 0 bytes: there is no message. */
typedef struct ulp_message {
    size_t rank;
    void *data; /* host memory; a message that is sent is only read */
    size_t bytes;
} ulp_message;

typedef struct ulp_ranks {
    size_t rank, count; /* the rank of this process, and the number of ranks */
    void *context;
    /* Send `out` and receive `in` at the same time. The two ranks may be different or the same. */
    ulp_status (*exchange)(void *context, ulp_message out, ulp_message in);
} ulp_ranks;

/* all (count,bytes), host memory: before the call row `rank` has this rank's bytes, and after it every row has those of
 * its rank. */
ulp_status ulp_ranks_gather(const ulp_ranks *ranks, void *all, size_t bytes);

ULP_C_END
#endif
