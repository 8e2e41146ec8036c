/* check.c - make check-silicon: the processor's own products and conversions against their models.
 *
 *     check_silicon [--small] [--tap] [--name]
 *
 * --small runs for seconds, --tap prints the lines of a test, --name prints the name of the processor for a report. The
 * exit status is 1 if a row failed. */
#include "check.h"

void check_row(check_plan *plan, int good, const char *name, const char *first, ...) {
    va_list list;
    va_start(list, first);
    printf("%s %s", plan->tap ? (good ? "ok -" : "not ok -") : (good ? "PASS" : "FAIL"), name);
    if (first[0] != '\0') fputs(": ", stdout);
    vprintf(first, list);
    va_end(list);
    putchar('\n');
    fflush(stdout);
    *(good ? &plan->passed : &plan->failed) += 1;
}

void check_skip(check_plan *plan, const char *name, const char *why) {
    if (plan->tap) printf("ok - %s # SKIP %s\n", name, why);
    else printf("SKIP %s: %s\n", name, why);
    plan->skipped++;
}

#if defined(__x86_64__)
#include <cpuid.h>

unsigned check_control_get(void) { return __builtin_ia32_stmxcsr(); }
void check_control_set(unsigned control) { __builtin_ia32_ldmxcsr(control); }

/* The vendor and the brand of the processor, its family, model and stepping. */
static void describe(char vendor[16], char brand[64], unsigned id[3]) {
    unsigned r[4] = {0}, words[12] = {0};
    memset(vendor, 0, 16);
    __get_cpuid(0, &r[0], &r[1], &r[2], &r[3]);
    memcpy(vendor, &r[1], 4);
    memcpy(vendor + 4, &r[3], 4);
    memcpy(vendor + 8, &r[2], 4);
    for (unsigned i = 0; i < 3; i++)
        __get_cpuid(0x80000002u + i, &words[4 * i], &words[4 * i + 1], &words[4 * i + 2], &words[4 * i + 3]);
    memcpy(brand, words, 48);
    brand[48] = '\0';
    __get_cpuid(1, &r[0], &r[1], &r[2], &r[3]);
    const unsigned family = r[0] >> 8 & 15u, extended = r[0] >> 20 & 255u, model = r[0] >> 4 & 15u;
    id[0] = family == 15 ? family + extended : family;
    id[1] = family == 15 || family == 6 ? (r[0] >> 16 & 15u) << 4 | model : model;
    id[2] = r[0] & 15u;
}
#else
#if defined(__aarch64__)
/* FPCR has one bit for operands and results that are flushed, and other numbers of directions; FPSR has the flags. */
unsigned check_control_get(void) {
    uint64_t status;
    __asm__ volatile("mrs %0, fpsr" : "=r"(status));
    return (status & 0x9fu) != 0 ? CHECK_DEFAULT_CONTROL | CHECK_FLAGS : CHECK_DEFAULT_CONTROL;
}
void check_control_set(unsigned control) {
    static const uint64_t directions[] = {0, 2, 1, 3}; /* to nearest, down, up, to zero */
    const uint64_t flush = (control & (CHECK_FTZ | CHECK_DAZ)) != 0,
                   word = flush << 24 | directions[control >> CHECK_ROUNDING & 3u] << 22;
    __asm__ volatile("msr fpcr, %0\n\tmsr fpsr, xzr" : : "r"(word));
}
#else
unsigned check_control_get(void) { return CHECK_DEFAULT_CONTROL; }
void check_control_set(unsigned control) { (void)control; }
#endif
static void describe(char vendor[16], char brand[64], unsigned id[3]) {
    strcpy(vendor, "other");
    strcpy(brand, "no x86");
    id[0] = id[1] = id[2] = 0;
}
#endif

/* amd-epyc-family26-model2: the brand up to the first word with a digit, in lower case. */
static void print_name(void) {
    char vendor[16], brand[64];
    unsigned id[3];
    describe(vendor, brand, id);
    int behind = 0;
    for (char *word = strtok(brand, " "); word != NULL && strpbrk(word, "0123456789@") == NULL;
         word = strtok(NULL, " ")) {
        if (behind) putchar('-');
        for (char *at = word; *at != '\0' && *at != '('; at++) putchar(*at >= 'A' && *at <= 'Z' ? *at + 32 : *at);
        behind = 1;
    }
    printf("%sfamily%u-model%u\n", behind ? "-" : "", id[0], id[1]);
}

static void print_head(const check_plan *plan) {
    char vendor[16], brand[64];
    unsigned id[3];
    describe(vendor, brand, id);
    printf("processor  %s, %s, family %u, model %u, stepping %u\n", brand, vendor, id[0], id[1], id[2]);
    printf("compiler   %s\n", __VERSION__);
    printf("run        %s\n\n", plan->small ? "short" : "all");
}

int main(int argc, char **argv) {
    check_plan plan = {0};
    ulp_cpu_native native;
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--small") == 0) plan.small = 1;
        else if (strcmp(argv[i], "--tap") == 0) plan.tap = 1;
        else if (strcmp(argv[i], "--name") == 0) return print_name(), 0;
        else return fprintf(stderr, "usage: check_silicon [--small] [--tap] [--name]\n"), 2;
    }
    if (!plan.tap) print_head(&plan);
    for (size_t i = 0; ulp_cpu_native_get(i, &native) == ULP_OK; i++) {
        char name[120];
        snprintf(name, sizeof name, "%s (%s)", native.name, native.what);
        if (native.lacks[0] != '\0') check_skip(&plan, name, native.lacks);
        else check_product(&plan, &native);
    }
    check_conversions(&plan);
    if (!plan.tap) printf("\n%d passed, %d failed, %d skipped\n", plan.passed, plan.failed, plan.skipped);
    return plan.failed > 0;
}
