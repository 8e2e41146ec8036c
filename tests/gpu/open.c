/* open.c - the answers of a device to the open points of the models, by sums that tell the answers apart. */
#include "sums.h"

#include "kernels/cuda/unit.h"
#include "open_points.h"

/* The sums that tell two answers apart are few among random ones: at most TRIES are formed, and an answer needs WANTED
 * of them. CHECKS sums of each kind test an answer that differs from the model. */
enum { TRIES = 20000, WANTED = 24, CHECKS = 100, MOST_ANSWERS = 64 };

/* The verdict of the sums about an answer. */
typedef struct verdict {
    ulp_datapath path;
    const char *says;
    size_t apart; /* sums that tell the answer from the reference */
    size_t wrong; /* sums whose results are not those of the answer */
} verdict;

/* Answers that stand against a reference, which is one of them. */
typedef struct contest {
    verdict v[MOST_ANSWERS];
    size_t n, reference;
    uint64_t tries;
} contest;

static void add(contest *t, const ulp_datapath *path, const char *says) {
    if (t->n < MOST_ANSWERS) t->v[t->n++] = (verdict){*path, says, 0, 0};
}

static uint64_t code_of(const ulp_datapath *path, const point_sum *s) {
    const ulp_unit unit = ulp_unit_of(path);
    uint64_t code = 0;
    return unit.dot(unit.context, &code, s->c, (ulp_products){s->a, s->b, s->k, NULL, NULL}) == ULP_OK ? code : ~code;
}

/* Whether enough sums tell each of the other answers from the reference. */
static int is_decided(const contest *t) {
    for (size_t i = 0; i < t->n; i++)
        if (i != t->reference && t->v[i].apart < WANTED) return 0;
    return 1;
}

/* Runs one sum on the device if it tells the reference from an answer that needs more sums, or if `always`. Returns 0
 * if a call failed. */
static int run_sum(row *r, const ulp_unit *device, contest *t, const point_sum *s, int always) {
    uint64_t want[MOST_ANSWERS], got = 0;
    int decides = always;
    for (size_t i = 0; i < t->n; i++) want[i] = code_of(&t->v[i].path, s);
    for (size_t i = 0; i < t->n; i++) decides |= t->v[i].apart < WANTED && want[i] != want[t->reference];
    if (!decides) return 1;
    if (!row_ok(r, device->dot(device->context, &got, s->c, (ulp_products){s->a, s->b, s->k, NULL, NULL}), "a sum"))
        return 0;
    r->compared++;
    for (size_t i = 0; i < t->n; i++) {
        t->v[i].apart += want[i] != want[t->reference];
        t->v[i].wrong += want[i] != got;
    }
    return 1;
}

static void run_sums(row *r, const ulp_unit *device, contest *t, const open_point *p, uint64_t always) {
    for (uint64_t i = 0; i < t->tries && (i < always || !is_decided(t)); i++) {
        point_sum s;
        p->form(&s, &t->v[t->reference].path, i);
        if (!run_sum(r, device, t, &s, i < always)) return;
    }
}

/* Whether an answer that is not the model's has all results of other sums, too: sums of every kind, and sums that tell
 * it from the answers to all other points. Another property that differs can pass for an answer. */
static int is_confirmed(const check *c, const ulp_cuda_native *d, const ulp_unit *device, const ulp_datapath *answer) {
    static contest t; /* too large for a stack */
    row scratch = row_of("an answer");
    const open_point *p;
    t = (contest){.tries = c->small ? TRIES / 5 : TRIES};
    add(&t, answer, "");
    for (size_t i = 0; (p = open_point_get(i)) != NULL; i++)
        for (size_t k = 0; p->asked(d, c->info.capability) && k < POINT_ANSWERS; k++) {
            ulp_datapath path;
            if (open_point_path(&path, p, k, d) && strcmp(path.name, answer->name) != 0) add(&t, &path, "");
        }
    for (size_t i = 0; (p = open_point_get(i)) != NULL && !scratch.stopped; i++)
        if (p->asked(d, c->info.capability)) run_sums(&scratch, device, &t, p, CHECKS);
    return !scratch.stopped && t.v[0].wrong == 0;
}

/* The answer that has all results; t->n if there is none. An answer that no sum tells from the reference does not
 * count.
 */
static size_t fitting(const contest *t) {
    if (t->v[t->reference].wrong == 0) return t->reference;
    for (size_t i = 0; i < t->n; i++)
        if (t->v[i].wrong == 0 && t->v[i].apart > 0) return i;
    return t->n;
}

/* The sentence of the row: the answer that fits, and how many results of the others differ. */
static void conclude(row *r, const open_point *p, const contest *t, size_t fits, int confirmed) {
    size_t used;
    r->wrong = t->v[t->reference].wrong;
    if (fits == t->n) used = (size_t)snprintf(r->first, sizeof r->first, "no answer fits;");
    else if (!confirmed)
        used =
            (size_t)snprintf(r->first, sizeof r->first,
                             "no answer fits alone: %s has these results, but not those of other sums, so that another "
                             "property differs;",
                             t->v[fits].path.name);
    else
        used = (size_t)snprintf(r->first, sizeof r->first, "%s: %s%s%s;", t->v[fits].path.name, t->v[fits].says,
                                fits != t->reference ? ", which sets " : "", fits != t->reference ? p->field : "");
    for (size_t i = 0; i < t->n && used < sizeof r->first; i++) {
        if (i == fits && confirmed) continue;
        used += (size_t)snprintf(r->first + used, sizeof r->first - used, " \"%s\"", t->v[i].says);
        if (used >= sizeof r->first) break;
        if (t->v[i].apart == 0 && i != t->reference)
            used += (size_t)snprintf(r->first + used, sizeof r->first - used, " is not told apart;");
        else used += (size_t)snprintf(r->first + used, sizeof r->first - used, " differs in %zu;", t->v[i].wrong);
    }
}

/* Asks one product. Returns 0, without a row, if no sum of its formats tells the answers apart. */
static int ask(const check *c, const open_point *p, const ulp_cuda_native *d) {
    char name[160];
    static contest t;
    size_t told = 0;
    snprintf(name, sizeof name, "open: %s, %s", p->name, d->name + strlen("native:"));
    row r = row_of(name);
    if (r.skipped) return 1;
    t = (contest){.tries = c->small ? TRIES / 5 : TRIES};
    for (size_t k = 0; k < POINT_ANSWERS; k++) {
        ulp_datapath path;
        if (!open_point_path(&path, p, k, d)) continue;
        if (strcmp(path.name, d->model) == 0 && p->answer[k].length == 0) t.reference = t.n;
        add(&t, &path, p->answer[k].says);
    }
    const ulp_unit device = ulp_cuda_unit_of(d);
    if (t.n > 0) run_sums(&r, &device, &t, p, 0);
    for (size_t i = 0; i < t.n; i++) told += t.v[i].apart > 0;
    if (!r.stopped && told == 0) return 0;
    if (!r.stopped) {
        const size_t fits = fitting(&t);
        const int confirmed = fits == t.reference || (fits < t.n && is_confirmed(c, d, &device, &t.v[fits].path));
        conclude(&r, p, &t, fits, confirmed);
    }
    row_end(&r);
    return 1;
}

/* The products that cannot tell the answers of a point apart share a row. */
static void ask_all(const check *c, const open_point *p) {
    char name[160], silent[220] = "";
    ulp_cuda_native d;
    size_t used = 0, asked = 0, unnamed = 0;
    for (size_t n = 0; ulp_cuda_native_get(n, &d) == ULP_OK; n++) {
        if (d.lacks[0] != '\0' || is_left_out(c, &d, n) || !p->asked(&d, c->info.capability)) continue;
        asked++;
        if (ask(c, p, &d)) continue;
        const char *product = d.name + strlen("native:");
        if (unnamed > 0 || used + strlen(product) + 2 > sizeof silent) unnamed++;
        else used += (size_t)snprintf(silent + used, sizeof silent - used, " %s", product);
    }
    snprintf(name, sizeof name, "open: %s, %s", p->name, asked == 0 ? "this device" : "other formats");
    row r = row_of(name);
    if (asked == 0) row_skip(&r, "no product of this device is asked");
    else if (unnamed > 0)
        row_skip(&r, "none of %d sums tells the answers apart:%s and %zu more", c->small ? TRIES / 5 : TRIES, silent,
                 unnamed);
    else if (used > 0) row_skip(&r, "none of %d sums tells the answers apart:%s", c->small ? TRIES / 5 : TRIES, silent);
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
