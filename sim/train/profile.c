/* profile.c - adding the time of operations to rows; see profile.h. */
#include "profile.h"

#include <stdlib.h>

ulp_status ulp_profile_init(ulp_profile *p, size_t layers, double (*clock)(void)) {
    *p = (ulp_profile){.clock = clock, .layers = layers};
    p->seconds = calloc(layers + ULP_TIME_ENDS, sizeof *p->seconds);
    return p->seconds ? ULP_OK : ULP_NO_MEMORY;
}

void ulp_profile_release(ulp_profile *p) {
    free(p->seconds);
    *p = (ulp_profile){0};
}

/* An operation within another one begins at a negative time, which counts nothing. */
double ulp_profile_begin(ulp_profile *p) {
    if (!p || !p->clock || p->inside) return -1.0;
    p->inside = 1;
    return p->clock();
}

void ulp_profile_end(ulp_profile *p, int operation, double began) {
    if (began < 0.0) return;
    p->inside = 0;
    p->seconds[p->row][operation] += p->clock() - began;
}

double ulp_profile_enter(ulp_profile *p, size_t row) {
    if (!p || !p->clock) return -1.0;
    p->row = row;
    return p->clock();
}

void ulp_profile_leave(ulp_profile *p, double began) {
    if (began >= 0.0) p->seconds[p->row][ULP_TIME_ALL] += p->clock() - began;
}

const char *ulp_profile_operation(int operation) {
    static const char *const names[] = {"forward", "backward", "all"};
    if (operation < ULP_AT_COUNT) return ulp_point_name((ulp_point_kind)operation);
    return operation < ULP_TIME_COUNT ? names[operation - ULP_AT_COUNT] : NULL;
}

const char *ulp_profile_end_name(int row) {
    static const char *const names[] = {"input", "loss", "check", "update"};
    return (unsigned)row < ULP_TIME_ENDS ? names[row] : NULL;
}
