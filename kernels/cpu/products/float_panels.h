/* float_panels.h - the operands of a product as binary32 numbers: B as panels of columns, A as rows; and the rows of C.
 */
#ifndef ULP_CPU_FLOAT_PANELS_H
#define ULP_CPU_FLOAT_PANELS_H

#include "lanes.h"

typedef struct float_panels {
    const ulp_job *job;
    size_t panels;
    float *packed, *rows; /* B as panels of (k, LANES), zero-padded; A (m, k) */
} float_panels;

/* Allocates the operands of p->job. */
static inline void float_panels_room(float_panels *p, rooms *r) {
    const ulp_job *job = p->job;
    p->panels = (job->s.n + LANES - 1) / LANES;
    p->packed = rooms_take(r, p->panels * job->s.k * LANES, sizeof *p->packed);
    p->rows = rooms_take(r, job->s.m * job->s.k, sizeof *p->rows);
}

/* Packs panels begin .. end - 1, for ulp_parallel_for. */
static inline void float_panels_pack(void *context, size_t begin, size_t end) {
    const float_panels *p = context;
    const ulp_job *job = p->job;
    const size_t all = job->s.k;
    for (size_t panel = begin; panel < end; panel++) {
        const size_t j0 = panel * LANES, width = job->s.n - j0 < LANES ? job->s.n - j0 : LANES;
        float *to = p->packed + panel * all * LANES;
        for (size_t k = 0; k < all; k++, to += LANES) {
            if (width < LANES) memset(to, 0, LANES * sizeof *to);
            if (!job->wide && !job->s.b_trans)
                memcpy(to, (const float *)job->b + b_index(job, k, j0), width * sizeof *to);
            else
                for (size_t j = 0; j < width; j++) to[j] = (float)job_at(job, job->b, b_index(job, k, j0 + j));
        }
    }
}

/* Converts row i of A. */
static inline void float_panels_row(const float_panels *p, size_t i) {
    const size_t all = p->job->s.k;
    for (size_t k = 0; k < all; k++) p->rows[i * all + k] = (float)job_at(p->job, p->job->a, a_index(p->job, i, k));
}

/* Reads the start values of row i in a panel into sums (LANES), or stores the sums as the result. */
static inline void float_panels_move(const float_panels *p, float *at, size_t i, size_t panel, int store) {
    const ulp_job *job = p->job;
    const size_t j0 = panel * LANES, width = job->s.n - j0 < LANES ? job->s.n - j0 : LANES;
    for (size_t j = 0; j < width; j++) {
        const size_t e = i * job->s.ldc + j0 + j;
        if (!store) at[j] = (float)job_at(job, job->c, e);
        else if (job->wide) ((double *)job->c)[e] = at[j] == at[j] ? (double)at[j] : ulp_quiet_nan();
        else ((float *)job->c)[e] = canonical(at[j]);
    }
}

#endif
