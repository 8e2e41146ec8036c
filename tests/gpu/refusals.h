/* refusals.h - what the checks of refused arguments share: a call on both backends, its status, untouched arrays. */
#ifndef ULP_REFUSALS_H
#define ULP_REFUSALS_H

#include "check.h"

enum { ROOM = 24 };

static const ulp_rule rne = {0};
static const ulp_stream none = {0, 0, 0};

/* Rules that do not exist, and a rule that floating point does not offer, with their statuses. */
static const struct {
    ulp_rule rule;
    ulp_status right;
} rules[] = {{{ULP_MODE_COUNT, 0, 0}, ULP_BAD_ARGUMENT},     {{255, 0, 0}, ULP_BAD_ARGUMENT},
             {{0, ULP_OVERFLOW_COUNT, 0}, ULP_BAD_ARGUMENT}, {{ULP_SRA, 0, 33}, ULP_BAD_ARGUMENT},
             {{0, ULP_OVERFLOW_WRAP, 0}, ULP_UNSUPPORTED},   {{0, ULP_OVERFLOW_WRAP, 33}, ULP_BAD_ARGUMENT}};
enum { RULES = sizeof rules / sizeof rules[0] };

/* A backend and arrays of ROOM elements in its memory: x has zeros, and y must stay as it is. */
typedef struct side {
    const ulp_backend *b;
    float *x, *y;
    double *x64, *y64;
} side;

/* A row, and what its calls use. */
typedef struct both {
    row r;
    side sides[2]; /* the CPU, the device */
    ulp_format fp16, wide, fixed;
    ulp_datapath sum, wide_sum;
} both;

/* Check that a call returns `right` on both sides; the call names its side `on`. */
#define EXPECT(right, ...)                                                                                             \
    for (const side *on = w->sides; on < w->sides + 2; on++) refusals_answered(w, on, __VA_ARGS__, right, #__VA_ARGS__)

void refusals_answered(both *w, const side *on, ulp_status got, ulp_status right, const char *call);

/* Open the row `name`, and allocate arrays on both sides. Returns 0 if the row is skipped or a call failed. The caller
 * calls refusals_close() in any case. */
int refusals_open(both *w, const check *c, const char *name);
/* Check that no call has written an array y. */
void refusals_untouched(both *w);
void refusals_close(both *w);

/* refusals_products.c */
void check_refused_products(const check *c);
/* refusals_network.c */
void check_refused_between(const check *c);

#endif
