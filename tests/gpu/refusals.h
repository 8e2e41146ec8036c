/* refusals.h - what the checks of refusals share: a call on both backends, its status, and that nothing was written. */
#ifndef ULP_REFUSALS_H
#define ULP_REFUSALS_H

#include "check.h"

enum { ROOM = 24 };

static const ulp_rule rne = {0};
static const ulp_stream none = {0, 0, 0};

/* Rules that are none, and one that floating point does not offer. */
static const struct {
    ulp_rule rule;
    ulp_status right;
} rules[] = {{{ULP_MODE_COUNT, 0, 0}, ULP_BAD_ARGUMENT},     {{255, 0, 0}, ULP_BAD_ARGUMENT},
             {{0, ULP_OVERFLOW_COUNT, 0}, ULP_BAD_ARGUMENT}, {{ULP_SRA, 0, 33}, ULP_BAD_ARGUMENT},
             {{0, ULP_OVERFLOW_WRAP, 0}, ULP_UNSUPPORTED},   {{0, ULP_OVERFLOW_WRAP, 33}, ULP_BAD_ARGUMENT}};
enum { RULES = sizeof rules / sizeof rules[0] };

/* A backend and arrays of ROOM elements in its memory: zeros to read, and others that nothing may write. */
typedef struct side {
    const ulp_backend *b;
    float *x, *y;
    double *x64, *y64;
} side;

/* A row under way, on both backends. */
typedef struct both {
    row r;
    side sides[2]; /* the CPU, the device */
    ulp_format fp16, wide, fixed;
    ulp_datapath sum, wide_sum;
} both;

/* The call, on the backend and the arrays of each side `on`, answers `right`. */
#define EXPECT(right, ...)                                                                                             \
    for (const side *on = w->sides; on < w->sides + 2; on++) refusals_answered(w, on, __VA_ARGS__, right, #__VA_ARGS__)

void refusals_answered(both *w, const side *on, ulp_status got, ulp_status right, const char *call);

/* The row called `name`, with arrays on both sides; 0 if there is nothing to do. refusals_close() in either case. */
int refusals_open(both *w, const check *c, const char *name);
/* Nothing was written until here. */
void refusals_untouched(both *w);
void refusals_close(both *w);

/* refusals_products.c */
void check_refused_products(const check *c);
/* refusals_network.c */
void check_refused_between(const check *c);

#endif
