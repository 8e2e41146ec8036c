/* rank_team.h - ranks as threads of a test, with messages in memory. */
#ifndef ULP_TESTS_RANK_TEAM_H
#define ULP_TESTS_RANK_TEAM_H

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/reduction/ranks.h"

enum { RANK_TEAM_MAX = 64 };

/* The way from one rank to another; it holds one message. */
typedef struct rank_way {
    void *bytes; /* NULL: no message */
    size_t n;
} rank_way;

typedef struct rank_team {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    rank_way way[RANK_TEAM_MAX][RANK_TEAM_MAX]; /* [from][to] */
    size_t count;
    void (*body)(void *own, const ulp_ranks *ranks);
    void *own;
} rank_team;

typedef struct rank_member {
    rank_team *team;
    size_t rank;
} rank_member;

static inline ulp_status rank_team_exchange(void *context, ulp_message out, ulp_message in) {
    const rank_member *m = context;
    rank_team *t = m->team;
    rank_way *to = &t->way[m->rank][out.rank], *from = &t->way[in.rank][m->rank];
    pthread_mutex_lock(&t->lock);
    if (out.bytes) {
        while (to->bytes) pthread_cond_wait(&t->changed, &t->lock);
        *to = (rank_way){malloc(out.bytes), out.bytes};
        memcpy(to->bytes, out.data, out.bytes);
        pthread_cond_broadcast(&t->changed);
    }
    if (in.bytes) {
        while (!from->bytes) pthread_cond_wait(&t->changed, &t->lock);
        if (from->n != in.bytes) abort();
        memcpy(in.data, from->bytes, in.bytes);
        free(from->bytes);
        from->bytes = NULL;
        pthread_cond_broadcast(&t->changed);
    }
    pthread_mutex_unlock(&t->lock);
    return ULP_OK;
}

static inline void *rank_team_thread(void *own) {
    rank_member *m = own;
    const ulp_ranks ranks = {m->rank, m->team->count, m, rank_team_exchange};
    m->team->body(m->team->own, &ranks);
    return NULL;
}

/* Run body(own, ranks) on `count` threads, one for each rank. */
static inline void rank_team_run(size_t count, void (*body)(void *own, const ulp_ranks *ranks), void *own) {
    pthread_t threads[RANK_TEAM_MAX];
    rank_member members[RANK_TEAM_MAX];
    rank_team *t = calloc(1, sizeof *t);
    t->count = count;
    t->body = body;
    t->own = own;
    pthread_mutex_init(&t->lock, NULL);
    pthread_cond_init(&t->changed, NULL);
    for (size_t r = 0; r < count; r++) {
        members[r] = (rank_member){t, r};
        if (pthread_create(&threads[r], NULL, rank_team_thread, &members[r]) != 0) abort();
    }
    for (size_t r = 0; r < count; r++) pthread_join(threads[r], NULL);
    pthread_cond_destroy(&t->changed);
    pthread_mutex_destroy(&t->lock);
    free(t);
}

#endif
