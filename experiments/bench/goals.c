/* goals.c - the goals of the benchmark: the least speed or the largest time of a row against another one. */
#include "bench.h"

#include <fnmatch.h>
#include <string.h>

/* Patterns of the shell for the work, what it is of, its mode, and the name of what it is compared with; then the least
 * size, and the goal with avx512 or on a device, and with avx2, 0 for none. The first row that fits counts. Arrays in
 * memory have the goals of "round in memory". */
static const struct goal {
    const char *what, *of, *mode, *beside;
    size_t least;
    double avx512, avx2;
} goals[] = {
    {"round in memory", "*", "r*", "memcpy", 0, 1, 1},
    {"round", "*", "*", "copy", 0, 0.9, 0}, /* on a device, where only this row counts */
    {"round", "binary16", "rne", "memcpy", 0, 0.6, 0.6},
    {"round", "bfloat16", "rne", "memcpy", 0, 0.6, 0.6},
    {"round", "*", "rn[ea]", "memcpy", 0, 0.35, 0.35},
    {"round", "*", "r[zudo]", "memcpy", 0, 0.25, 0.25},
    {"round", "*", "sr*", "memcpy", 0, 0.07, 0.07},
    {"count", "*", "*", "uncounted", 0, 1.5, 1.5},
    {"round64", "*", "*", "binary32", 0, 0.5, 0.5},
    {"product", "fp32", "*", "OpenBLAS", 256, 0.9, 0.9},
    {"product", "serial:*:rn[ea]", "*", "fp32", 256, 8, 8},
    {"product", "serial:*:r[zudo]", "*", "fp32", 256, 12, 12},
    {"product", "serial:*:sr*", "*", "fp32", 256, 30, 30},
    {"product", "kahan:*", "*", "fp32", 256, 60, 60},
    {"product", "exact:*", "*", "fp32", 256, 6, 6},
    {"product", "int8*", "*", "fp32", 256, 0.6, 1.5},
    {"product", "*:*:sr*", "*", "fp32", 256, 30, 30},
    {"product", "split:*", "*", "fp32", 256, 20, 20},
    {"product", "chunk*", "*", "fp32", 256, 20, 20},
    {"product", "pairwise:*", "*", "fp32", 256, 20, 20},
    {"product", "*", "*", "a100-fp16", 256, 2, 2},
    {"product", "mi[0-9]*", "*", "fp32", 0, 0, 0}, /* units of other vendors are compared with a100-fp16 */
    {"product", "avx512-*", "*", "fp32", 0, 0, 0},
    {"product", "arm-*", "*", "fp32", 0, 0, 0},
    {"product", "[a-z]*[0-9]-*", "*", "fp32", 256, 4, 6},
    {"product", "*", "*", "one thread", 512, 1.85, 1.85},
    {"step", "784-*", "fp32", "PyTorch*", 0, 1.1, 1.1},
    {"step", "784-*", "q8.8/rne", "fp32", 0, 1.1, 1.1},
    {"step", "784-*", "q8.8/sra", "fp32", 0, 1.2, 1.2},
    {"step", "*", "mixed:*", "fp32", 0, 1.25, 1.25},
    {"step", "784-*", "*", "one thread", 0, 1.85, 1.85},
};

static int fits(const char *pattern, const char *text) { return fnmatch(pattern, text, 0) == 0; }

double goal_of(const job *j, const comparison *c) {
    const char *isa = j->b->isa;
    const char *what = j->in_memory ? "round in memory" : j->what;
    const int wide = j->timer || strcmp(isa, "avx512") == 0;
    if ((!wide && strcmp(isa, "avx2") != 0) || j->offer) return ULP_NO_NUMBER;
    if (j->b->timer && strcmp(c->name, "copy") != 0) return ULP_NO_NUMBER;
    for (size_t i = 0; i < sizeof goals / sizeof *goals; i++) {
        const struct goal *g = &goals[i];
        if (j->n >= g->least && fits(g->what, what) && fits(g->of, j->of) && fits(g->mode, j->mode) &&
            fits(g->beside, c->name))
            return g->avx512 > 0 ? (wide ? g->avx512 : g->avx2) : ULP_NO_NUMBER;
    }
    return ULP_NO_NUMBER;
}
