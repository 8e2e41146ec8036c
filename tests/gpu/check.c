/* check.c - make check-gpu: checks of the CUDA backend against the CPU; each check prints a row, the last line counts.
 *
 *     check_gpu [--small | --long] [--tap] [--rows] [--part PART] [--only WORD]
 *     check_gpu --parts | --points | --help
 *
 *  - --small: small sizes, for runs of seconds
 *  - --long: large sizes, for runs of more than minutes
 *  - --tap: rows are TAP lines
 *  - --rows: only rows are printed
 *  - --part: one of the parts that --parts lists; none prints the device alone
 *  - --only: only the rows whose name contains WORD
 *  - --parts: lists the parts in their order
 *  - --points: lists the open points of the models, their answers, and what each answer sets
 *  - --help: prints the usage to standard output
 *
 * The exit status is 0 if no row failed, 1 if a row failed, 2 for a wrong command line (one sentence on standard error
 * names the fault), and 3 without a device. */
#include "check.h"

#include "formats/rng.h"

static struct {
    int tap, rows, passed, failed, skipped;
    const char *only, *part;
} report;

static const struct part {
    const char *name;
    void (*check)(const check *c);
    const char *what;
} parts[] = {
    {"layouts", check_layouts, "places of elements in instructions"},
    {"tensor", check_tensor_cores, "instructions against their models"},
    {"chains", check_chains, "long sums: order, promotion, binary64, clamps"},
    {"library", check_library, "cuBLASLt"},
    {"elements", check_elements, "rounding and operations on elements"},
    {"blocks", check_blocks, "block-scaled formats and Hadamard transforms"},
    {"moves", check_moves, "transposes and patches"},
    {"network", check_network, "operations between products"},
    {"sequences", check_sequences, "cells of recurrent layers, losses of sequences of labels"},
    {"gemm", check_gemm, "products under every datapath"},
    {"refusals", check_refused, "arguments that are refused"},
    {"races", check_races, "large products again and again"},
    {"training", check_training, "trainings"},
    {"open", check_open, "answers to the open points of the models"},
    {"exhaustive", check_exhaustive, "conversions of all binary32 numbers to formats of 8 bits"},
};
enum { PARTS = sizeof parts / sizeof parts[0] };

/* ---- rows ---- */

row row_of(const char *name) {
    return (row){.name = name, .skipped = report.only != NULL && strstr(name, report.only) == NULL};
}

static void note(row *r, const char *format, va_list list, const char *tail) {
    if (r->first[0] != '\0') return;
    vsnprintf(r->first, sizeof r->first, format, list);
    const size_t used = strlen(r->first);
    snprintf(r->first + used, sizeof r->first - used, "%s", tail);
}

/* Define a comparison: it counts the elements that differ, and the row keeps a text of the first difference. */
#define COMPARE(name, type, word, bits, shown)                                                                         \
    void name(row *r, const type *got, const type *want, size_t n, const char *format, ...) {                          \
        va_list list;                                                                                                  \
        va_start(list, format);                                                                                        \
        for (size_t i = 0; i < n; i++) {                                                                               \
            word g, w;                                                                                                 \
            memcpy(&g, &got[i], sizeof g);                                                                             \
            memcpy(&w, &want[i], sizeof w);                                                                            \
            if (g == w) continue;                                                                                      \
            if (r->wrong++ == 0) {                                                                                     \
                char tail[160];                                                                                        \
                snprintf(tail, sizeof tail, ": element %zu of %zu: got " shown " (%0*llx), want " shown " (%0*llx)",   \
                         i, n, got[i], bits / 4, (unsigned long long)g, want[i], bits / 4, (unsigned long long)w);     \
                note(r, format, list, tail);                                                                           \
            }                                                                                                          \
        }                                                                                                              \
        r->compared += n;                                                                                              \
        va_end(list);                                                                                                  \
    }
COMPARE(row_floats, float, uint32_t, 32, "%a")
COMPARE(row_doubles, double, uint64_t, 64, "%a")

void row_words(row *r, const uint64_t *got, const uint64_t *want, size_t n, const char *format, ...) {
    va_list list;
    va_start(list, format);
    for (size_t i = 0; i < n; i++) {
        if (got[i] == want[i]) continue;
        if (r->wrong++ == 0) {
            char tail[160];
            snprintf(tail, sizeof tail, ": number %zu: got %llu, want %llu", i, (unsigned long long)got[i],
                     (unsigned long long)want[i]);
            note(r, format, list, tail);
        }
    }
    r->compared += n;
    va_end(list);
}

void row_counters(row *r, const ulp_stats *got, const ulp_stats *want, const char *of, const char *how) {
    uint64_t g[sizeof *got / sizeof(uint64_t)], w[sizeof g / sizeof *g];
    memcpy(g, got, sizeof g);
    memcpy(w, want, sizeof w);
    row_words(r, g, w, sizeof g / sizeof *g,
              "counters (count, overflow, saturated, underflow, subnormal, zero, nan) of %s, %s", of, how);
}

void row_true(row *r, int yes, const char *format, ...) {
    va_list list;
    va_start(list, format);
    r->compared++;
    if (!yes && r->wrong++ == 0) note(r, format, list, "");
    va_end(list);
}

int row_ok(row *r, ulp_status status, const char *format, ...) {
    va_list list;
    va_start(list, format);
    if (status != ULP_OK) {
        char tail[500];
        snprintf(tail, sizeof tail, ": %s; %s", ulp_status_text(status), ulp_backend_error());
        if (r->wrong++ == 0) note(r, format, list, tail);
        r->stopped = 1;
    }
    va_end(list);
    return status == ULP_OK;
}

void row_skip(row *r, const char *format, ...) {
    va_list list;
    va_start(list, format);
    r->skipped = 1;
    note(r, format, list, "");
    va_end(list);
}

void row_end(row *r) {
    const int left_out = report.only != NULL && strstr(r->name, report.only) == NULL;
    if (left_out) return;
    if (!r->skipped && r->compared == 0 && r->wrong == 0) {
        r->wrong = 1;
        snprintf(r->first, sizeof r->first, "nothing was compared");
    }
    const char *verdict = r->wrong != 0 ? "FAIL" : r->skipped ? "SKIP" : "PASS";
    if (r->wrong != 0) report.failed++;
    else if (r->skipped) report.skipped++;
    else report.passed++;
    if (report.tap) {
        printf("%sok - cuda: %s%s%s\n", r->wrong != 0 ? "not " : "", r->name,
               r->wrong == 0 && r->skipped ? " # SKIP " : "", r->wrong == 0 && r->skipped ? r->first : "");
        if (r->wrong != 0)
            printf("# %llu of %llu wrong; %s\n", (unsigned long long)r->wrong, (unsigned long long)r->compared,
                   r->first);
    } else {
        printf("%s %-64s", verdict, r->name);
        if (r->compared != 0)
            printf(" %14llu compared, %llu wrong", (unsigned long long)r->compared, (unsigned long long)r->wrong);
        if (r->first[0] != '\0') printf("%s%s", r->compared != 0 ? "\n     " : " ", r->first);
        putchar('\n');
    }
    fflush(stdout);
}

/* ---- data ---- */

uint32_t word_of(uint64_t seed, uint64_t i) { return ulp_random_word((ulp_stream){seed, 0, 0}, i); }

static double value_near(const ulp_format *f, uint32_t kind, uint32_t word) {
    const double ends[] = {f->max, f->lowest, f->min_normal, f->min_positive, 0.0, -0.0, 1.0, INFINITY, -INFINITY, NAN};
    const double x = ends[word % (sizeof ends / sizeof ends[0])];
    if (kind == 0) return x;
    const uint64_t codes = f->bits < 64 ? ((uint64_t)1 << f->bits) : 0;
    const double value = ulp_decode(codes == 0 ? word : (uint64_t)word * 0x9e3779b97f4a7c15u % codes, f);
    if (kind == 1) return value;
    return value * (1.0 + (double)((int)(word >> 28) - 8) * ulp_scale(1.0, -(int)f->prec - 1)); /* a tie, or near one */
}

void fill_any(float *x, size_t n, const ulp_format *format, uint64_t seed) {
    for (size_t i = 0; i < n; i++) {
        const uint32_t kind = word_of(seed, 2 * i) % 8, word = word_of(seed, 2 * i + 1);
        if (kind < 3) x[i] = (float)value_near(format, kind, word);
        else if (kind == 3) memcpy(&x[i], &word, sizeof word);
        else x[i] = (float)value_near(format, 2, word);
    }
}

typedef struct normal_array {
    float *x;
    double scale;
    uint64_t seed;
} normal_array;

static void fill_normal_part(void *context, size_t begin, size_t end) {
    const normal_array *w = context;
    for (size_t i = begin; i < end; i++) {
        double sum = -6.0; /* a sum of twelve uniform numbers is nearly normal */
        for (uint64_t block = 3 * i; block < 3 * i + 3; block++) {
            const philox4x32_ctr_t words = ulp_random_block(w->seed, 0, block);
            for (int k = 0; k < 4; k++) sum += (double)words.v[k] * 0x1p-32;
        }
        w->x[i] = (float)(sum * w->scale);
    }
}

void fill_normal(float *x, size_t n, double scale, uint64_t seed) {
    normal_array all = {x, scale, seed};
    ulp_parallel_for(n, 4096, fill_normal_part, &all);
}

void fill_codes(float *x, size_t n, const ulp_format *format, int special, uint64_t seed) {
    const uint64_t mask = format->bits < 64 ? ((uint64_t)1 << format->bits) - 1 : ~(uint64_t)0;
    for (size_t i = 0; i < n; i++) {
        uint64_t at = 4 * i;
        double v;
        do {
            const uint64_t code = (uint64_t)word_of(seed, at) << 32 | word_of(seed ^ 0x5bd1e995u, at);
            v = ulp_decode((code >> 13) & mask, format);
            at = at * 0x9e3779b97f4a7c15u + 1;
        } while (v - v != 0.0 && !(special && word_of(seed, at) % 16 == 0));
        x[i] = (float)v;
    }
}

void *room(size_t n, size_t size) {
    void *p = calloc(n + 1, size);
    if (p == NULL) {
        fprintf(stderr, "check_gpu: no memory for %zu elements of %zu bytes\n", n, size);
        exit(1);
    }
    return p;
}

void *to_device(const check *c, row *r, const void *host, size_t bytes) {
    void *memory = c->gpu->alloc(bytes);
    if (!row_ok(r, memory != NULL ? ULP_OK : ULP_NO_MEMORY, "alloc of %zu bytes", bytes)) return NULL;
    if (row_ok(r, c->gpu->upload(memory, host, bytes), "upload of %zu bytes", bytes)) return memory;
    c->gpu->release(memory);
    return NULL;
}

int from_device(const check *c, row *r, void *host, const void *device, size_t bytes) {
    return row_ok(r, c->gpu->download(host, device, bytes), "download of %zu bytes", bytes);
}

#define COMPARE_ON_DEVICE(name, type, compare)                                                                         \
    void name(const check *c, row *r, ulp_status status, const void *device, const type *want, size_t n,               \
              const char *format, ...) {                                                                               \
        char text[200];                                                                                                \
        va_list list;                                                                                                  \
        type *got = room(n, sizeof *got);                                                                              \
        va_start(list, format);                                                                                        \
        vsnprintf(text, sizeof text, format, list);                                                                    \
        va_end(list);                                                                                                  \
        if (row_ok(r, status, "%s", text) && from_device(c, r, got, device, n * sizeof *got))                          \
            compare(r, got, want, n, "%s", text);                                                                      \
        free(got);                                                                                                     \
    }
COMPARE_ON_DEVICE(device_floats, float, row_floats)
COMPARE_ON_DEVICE(device_doubles, double, row_doubles)

/* ---- the program ---- */

static void head(const check *c) {
    if (report.tap || report.rows) return;
    printf("device       %s, compute capability %d.%d, %d processors, %.1f GiB%s\n", c->info.name,
           c->info.capability / 10, c->info.capability % 10, c->info.processors, (double)c->info.memory * 0x1p-30,
           c->emulated ? " (emulated: no silicon)" : "");
    printf("driver       CUDA %d.%d\nruntime      CUDA %d.%d\n", c->info.driver / 1000, c->info.driver % 1000 / 10,
           c->info.runtime / 1000, c->info.runtime % 1000 / 10);
    printf("clock        at most %d MHz\ncpu          %s, %d threads\n\n", c->info.clock_khz / 1000, c->cpu->what,
           ulp_threads_get());
}

static int usage(void) {
    printf("check_gpu [--small | --long] [--tap] [--rows] [--part PART] [--only WORD]\n"
           "check_gpu --parts | --points | --help\n\n"
           "  --small      small sizes, for runs of seconds\n"
           "  --long       large sizes, for runs of more than minutes\n"
           "  --tap        rows are TAP lines\n"
           "  --rows       only rows are printed\n"
           "  --part PART  one of the parts that --parts lists; none prints the device alone\n"
           "  --only WORD  only the rows whose name contains WORD\n"
           "  --parts      lists the parts in their order\n"
           "  --points     lists the open points of the models, their answers, and what each answer sets\n"
           "  --help       prints this\n");
    return 0;
}

/* Print the sentence about a fault of the command line. Returns the exit status. */
__attribute__((format(printf, 1, 2))) static int wrong(const char *format, ...) {
    va_list list;
    va_start(list, format);
    fprintf(stderr, "check_gpu: ");
    vfprintf(stderr, format, list);
    fputc('\n', stderr);
    va_end(list);
    return 2;
}

static int wrong_part(const char *fault) {
    char names[300] = "";
    for (size_t i = 0, used = 0; i < PARTS; i++)
        used += (size_t)snprintf(names + used, sizeof names - used, "%s, ", parts[i].name);
    return wrong("%s: the parts are %snone", fault, names);
}

/* Whether --part names a part. */
static int known_part(const char *name) {
    for (size_t i = 0; i < PARTS; i++)
        if (strcmp(name, parts[i].name) == 0) return 1;
    return strcmp(name, "none") == 0;
}

/* The word after option i, or NULL if there is none or an empty word. */
static const char *word_after(int argc, char **argv, int i) {
    return i + 1 < argc && argv[i + 1][0] != '\0' ? argv[i + 1] : NULL;
}

static int print_list(const char *which) {
    if (strcmp(which, "--points") == 0) print_open_points();
    else
        for (size_t i = 0; i < PARTS; i++) printf("%s\t%s\n", parts[i].name, parts[i].what);
    return 0;
}

/* Read the command line. Returns 0, or the exit status for a fault. */
static int read_options(check *c, const char **list, int argc, char **argv) {
    for (int i = 1; i < argc; i++) {
        const char *option = argv[i];
        if (strcmp(option, "--small") == 0) c->small = 1;
        else if (strcmp(option, "--long") == 0) c->lengthy = 1;
        else if (strcmp(option, "--parts") == 0 || strcmp(option, "--points") == 0 || strcmp(option, "--help") == 0)
            *list = option;
        else if (strcmp(option, "--tap") == 0) report.tap = 1;
        else if (strcmp(option, "--rows") == 0) report.rows = 1;
        else if (strcmp(option, "--only") == 0) {
            report.only = word_after(argc, argv, i++);
            if (report.only == NULL)
                return wrong("--only without a word, or with an empty one: it takes a part of a row's name");
        } else if (strcmp(option, "--part") == 0) {
            const char *name = word_after(argc, argv, i++);
            char fault[120];
            if (name == NULL) return wrong_part("--part without a word, or with an empty one");
            snprintf(fault, sizeof fault, "--part '%s'", name);
            if (!known_part(name)) return wrong_part(fault);
            if (report.part != NULL)
                return wrong("--part %s and --part %s: one part or, without --part, all parts", report.part, name);
            report.part = name;
        } else
            return wrong("'%s': the options are --small, --long, --tap, --rows, --part PART, --only WORD, --parts, "
                         "--points and --help",
                         option);
    }
    return c->small && c->lengthy ? wrong("--small and --long: one of them is allowed, not both") : 0;
}

int main(int argc, char **argv) {
    check c = {0};
    const char *list = NULL;
    const int fault = read_options(&c, &list, argc, argv);
    if (fault != 0) return fault;
    if (list != NULL) return strcmp(list, "--help") == 0 ? usage() : print_list(list);
    const int none = report.part != NULL && strcmp(report.part, "none") == 0;
    if (ulp_cuda_backend(&c.gpu) != ULP_OK) {
        fprintf(stderr, "check_gpu: %s\n", ulp_cuda_lacks());
        return 3;
    }
    if (ulp_backend_get(&c.cpu, "cpu") != ULP_OK || ulp_cuda_describe(&c.info) != ULP_OK) return 3;
    c.emulated = strcmp(c.info.name, "emulated device") == 0;
    head(&c);
    for (size_t i = 0; i < PARTS; i++)
        if (report.part == NULL || strcmp(report.part, parts[i].name) == 0) parts[i].check(&c);
    if (none) return 0;
    if (report.only != NULL && report.passed + report.failed + report.skipped == 0)
        return wrong("no row's name contains '%s'", report.only);
    if (!report.rows)
        printf("%s%d passed, %d failed, %d skipped\n", report.tap ? "# " : "\n", report.passed, report.failed,
               report.skipped);
    return report.failed != 0;
}
