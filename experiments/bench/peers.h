/* peers.h - other libraries, measured by worker programs and compared with the rows of the benchmark.
 *
 * A worker is a command for the shell. It writes a line for each piece of work that it offers, with tabs between the
 * fields: WHAT OF MODE BY, for example "round", "binary16", "rne", "ml_dtypes 0.5.0". Then it writes the line "ready".
 * For each line "NUMBER N THREADS SECONDS" that it reads, it repeats the piece of work of that number, counted from 0,
 * with size N on THREADS threads for about SECONDS, and writes two numbers: the seconds of one call by the clock, and
 * by the processor time of its thread. It ends at the end of its input.
 */
#ifndef ULP_BENCH_PEERS_H
#define ULP_BENCH_PEERS_H

#include "experiments/harness/sweep/plan.h"

/* The seconds of one call: by the clock, and by the processor time of the calling thread. */
typedef struct call_time {
    double clock, thread;
} call_time;

typedef struct peer peer;
typedef struct peer_offer {
    const char *what, *of, *mode, *by;
    peer *worker;
    int number;
} peer_offer;

typedef struct peers {
    peer **workers; /* (count) */
    size_t count, room;
    peer_offer *offers; /* (offered) */
    size_t offered, offers_room;
} peers;

/* Starts the workers: commands with semicolons between them. A failure is reported in a sentence. The caller calls
 * peers_close() after success and after failure. */
ulp_status peers_open(const ulp_plan *plan, peers *p, const char *commands);
void peers_close(peers *p);

/* Measures a call. Returns 0 if the worker fails, else 1. */
int peer_measure(call_time *once, const peer_offer *offer, size_t n, int threads, double seconds);
/* The command of the worker, for messages. */
const char *peer_command(const peer_offer *offer);

/* The next offer from *at on of this work; NULL if there is none. *at starts at 0. NULL texts match all. */
const peer_offer *peers_find(const peers *p, size_t *at, const char *what, const char *of, const char *mode);

#endif
