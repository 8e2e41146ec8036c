/* refusals.h - a call on both backends, its status, untouched arrays, shared by the checks of refused arguments. */
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
    int lacks; /* the number of the array that a call of TRIED lacks; else -1 */
    int empty; /* a call of TRIED has no elements and no arrays */
    int good;  /* the calls of the row are made a second time: those that are right */
} both;

/* Check that a call returns `right` on both sides. The call names the backend b and the arrays x, y, x64, y64 of its
 * side. */
#define CHECK(asked, right, ...)                                                                                       \
    for (const side *on = w->sides; (asked) && on < w->sides + 2; on++) {                                              \
        const ulp_backend *const b = on->b;                                                                            \
        float *const x = on->x, *const y = on->y;                                                                      \
        double *const x64 = on->x64, *const y64 = on->y64;                                                             \
        (void)b, (void)x, (void)y, (void)x64, (void)y64;                                                               \
        refusals_answered(w, on, __VA_ARGS__, right, #__VA_ARGS__);                                                    \
    }

/* A call that writes nothing: it is refused, or has no elements. A call that may write. */
#define EXPECT(right, ...) CHECK(!w->good, right, __VA_ARGS__)
#define GOOD(...) CHECK(w->good, ULP_OK, __VA_ARGS__)

/* A good call, which is refused without each of its arrays, and which may have no elements and no arrays. It has array
 * i, from 0, as A(i, array), and `n` elements as N(n). WITHOUT_EACH does not call it without elements. */
#define WITHOUT_EACH(arrays, ...)                                                                                      \
    for (w->lacks = w->good ? 0 : arrays; w->lacks-- > 0;) EXPECT(ULP_BAD_ARGUMENT, __VA_ARGS__)                       \
    GOOD(__VA_ARGS__)
#define TRIED(arrays, ...)                                                                                             \
    WITHOUT_EACH(arrays, __VA_ARGS__)                                                                                  \
    for (w->empty = !w->good; w->empty; w->empty = 0) EXPECT(ULP_OK, __VA_ARGS__)
#define OR_EMPTY(usual, empty_one) (w->empty ? (empty_one) : (usual))
#define A(i, array) (w->lacks == (i) || w->empty ? NULL : (array))
#define N(n) OR_EMPTY(n, 0)

/* How a call rounds, with and without counts; how it sums. */
#define TO(format, rule) ((ulp_rounding){format, rule, none, NULL})
#define COUNTED(format, rule) ((ulp_rounding){format, rule, none, &stats})
#define SUM(datapath) ((ulp_summation){&(datapath), none})
#define NO_SUM ((ulp_summation){NULL, none})

void refusals_answered(both *w, const side *on, ulp_status got, ulp_status right, const char *call);

/* The calls of a row are made twice: first those that write nothing, then those that may write. */
typedef struct refusal {
    const char *name;
    void (*calls)(both *w);
} refusal;

/* Run the rows, each with new arrays on both sides, unless the row is skipped or a call failed. */
void refusals_run(const check *c, const refusal *rows, size_t n);

/* refusals_products.c */
void check_refused_products(const check *c);
/* refusals_network.c */
void check_refused_between(const check *c);

#endif
