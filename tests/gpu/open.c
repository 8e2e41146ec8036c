/* open.c - the answers of a device to the open points of the models, by sums that tell the answers apart. */
#include "codes.h"

#include "kernels/cuda/unit.h"
#include "open_points.h"

#include <stdio.h>
#include <string.h>

/* The sums that tell the first answer from another one are few among random ones. */
enum { TRIES = 20000, WANTED = 24 };

/* What the sums said about an answer. */
typedef struct verdict {
    int known; /* the answer has a datapath */
    ulp_datapath path;
    size_t apart; /* sums that tell the answer from the first one */
    size_t wrong; /* sums whose results are not those of the answer */
} verdict;

static uint64_t code_of(const ulp_datapath *path, const point_sum *s) {
    const ulp_unit unit = ulp_unit_of(path);
    uint64_t code = 0;
    return unit.dot(unit.context, &code, s->c, (ulp_products){s->a, s->b, s->k, NULL, NULL}) == ULP_OK ? code : ~code;
}

/* Whether enough sums tell each of the other answers from the first one. */
static int is_decided(const verdict *v) {
    for (size_t i = 1; i < POINT_ANSWERS; i++)
        if (v[i].known && v[i].apart < WANTED) return 0;
    return 1;
}

/* Runs one sum on the device if it tells the first answer from one that needs more sums. */
static int run_sum(row *r, const ulp_unit *device, verdict *v, const point_sum *s) {
    uint64_t want[POINT_ANSWERS], got = 0;
    int decides = 0;
    for (size_t i = 0; i < POINT_ANSWERS; i++) {
        want[i] = v[i].known ? code_of(&v[i].path, s) : 0;
        decides |= v[i].known && v[i].apart < WANTED && want[i] != want[0];
    }
    if (!decides) return 1;
    if (!row_ok(r, device->dot(device->context, &got, s->c, (ulp_products){s->a, s->b, s->k, NULL, NULL}), "a sum"))
        return 0;
    r->compared++;
    for (size_t i = 0; i < POINT_ANSWERS; i++) {
        v[i].apart += v[i].known && want[i] != want[0];
        v[i].wrong += v[i].known && want[i] != got;
    }
    return 1;
}

/* The sentence of the row: the answer that has all results, and how many results of the others differ. Returns 0 if the
 * sums did not tell any answer from the first one. */
static int conclude(row *r, const open_point *p, const verdict *v) {
    size_t used, fits = POINT_ANSWERS, told = 0;
    for (size_t i = POINT_ANSWERS; i-- > 0;)
        if (v[i].known && v[i].wrong == 0 && (i == 0 || v[i].apart > 0)) fits = i;
    for (size_t i = 1; i < POINT_ANSWERS; i++) told += v[i].known && v[i].apart > 0;
    r->wrong = fits != 0;
    if (fits == POINT_ANSWERS) used = (size_t)snprintf(r->first, sizeof r->first, "no answer fits:");
    else
        used = (size_t)snprintf(r->first, sizeof r->first, "%s: %s%s%s;", v[fits].path.name, p->answer[fits].says,
                                fits != 0 ? ", which sets " : "", fits != 0 ? p->field : "");
    for (size_t i = 0; i < POINT_ANSWERS && used < sizeof r->first; i++) {
        if (!v[i].known || i == fits) continue;
        used += (size_t)snprintf(r->first + used, sizeof r->first - used, " not: %s", p->answer[i].says);
        if (used >= sizeof r->first) break;
        if (v[i].apart == 0 && i != 0)
            used += (size_t)snprintf(r->first + used, sizeof r->first - used, " (not told apart);");
        else used += (size_t)snprintf(r->first + used, sizeof r->first - used, " (%zu differ);", v[i].wrong);
    }
    return told > 0;
}

/* Asks one product. Returns 0, without a row, if no sum of its formats tells the answers apart. */
static int ask(const check *c, const open_point *p, const ulp_cuda_native *d) {
    char name[160];
    verdict v[POINT_ANSWERS];
    snprintf(name, sizeof name, "open: %s, %s", p->name, d->name + strlen("native:"));
    row r = row_of(name);
    memset(v, 0, sizeof v);
    for (size_t i = 0; i < POINT_ANSWERS && !r.skipped; i++) v[i].known = open_point_path(&v[i].path, p, i, d);
    if (!r.skipped && !v[0].known) row_skip(&r, "the first answer has no datapath");
    const ulp_unit device = ulp_cuda_unit_of(d);
    for (uint64_t i = 0; !r.skipped && i < (c->small ? TRIES / 5 : TRIES) && !is_decided(v); i++) {
        point_sum s;
        p->form(&s, &v[0].path, i);
        if (!run_sum(&r, &device, v, &s)) break;
    }
    if (!r.skipped && !r.stopped && !conclude(&r, p, v)) return 0;
    row_end(&r);
    return 1;
}

/* The products that cannot tell the answers of a point apart share a row. */
static void ask_all(const check *c, const open_point *p) {
    char name[160], silent[300] = "";
    ulp_cuda_native d;
    size_t used = 0, asked = 0;
    for (size_t n = 0; ulp_cuda_native_get(n, &d) == ULP_OK; n++) {
        if (d.lacks[0] != '\0' || is_left_out(c, &d, n) || !p->asked(&d, c->info.capability)) continue;
        asked++;
        if (!ask(c, p, &d) && used < sizeof silent)
            used += (size_t)snprintf(silent + used, sizeof silent - used, " %s", d.name + strlen("native:"));
    }
    snprintf(name, sizeof name, "open: %s, %s", p->name, asked == 0 ? "this device" : "other formats");
    row r = row_of(name);
    if (asked == 0) row_skip(&r, "no product of this device is asked");
    else if (used > 0) row_skip(&r, "no sum of these formats tells the answers apart:%s", silent);
    if (asked == 0 || used > 0) row_end(&r);
}

void check_open(const check *c) {
    for (size_t i = 0; open_point_get(i) != NULL; i++) ask_all(c, open_point_get(i));
}

void print_open_points(void) {
    const open_point *p;
    for (size_t i = 0; (p = open_point_get(i)) != NULL; i++) {
        printf("%s%s: %s\n  sources: %s\n  sets: %s\n", i > 0 ? "\n" : "", p->name, p->question, p->source, p->field);
        for (size_t n = 0; n < POINT_ANSWERS && p->answer[n].path != NULL; n++)
            printf("  %s %s: %s\n", n == 0 ? "now   " : "or    ", p->answer[n].path, p->answer[n].says);
    }
}
