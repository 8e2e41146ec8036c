/* verify.c - ulp verify: rounding against the MPFR oracle, sampled or over all 2^32 binary32 inputs.
 *
 * A case is a format, a mode and an overflow policy. Its inputs go through the array kernels of the backend in use,
 * which experiments run on, and every result is compared, bit for bit, with the oracle. Work is cut into pieces. The
 * hash of a case combines the hashes of its pieces in order, so that it does not depend on threads, and a run that was
 * stopped goes on with the pieces that its journal has.
 */
#include "experiments/harness/cli/progress.h"
#include "tool.h"

#include <string.h>

#if defined(ULP_WITH_MPFR)

#include "journal.h"
#include "sim/reference.h"
#include "verify_sample.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdlib.h>

enum { CHUNK = 4096, SHOWN = 5, PIECE_NAME_MAX = 256 };

typedef struct piece {
    uint64_t mismatches, hash;
    int done;
} piece;

typedef struct job {
    const ulp_backend *backend;
    ulp_format format;
    ulp_rule rule;
    ulp_stream stream;
    int exhaustive;
    uint64_t inputs, per_piece; /* of the case */
    size_t pieces;
    piece *piece;
    int shown;         /* mismatches printed so far */
    journal *journal;  /* or NULL */
    uint64_t finished; /* inputs done, for the bar */
    ulp_progress bar;
    pthread_mutex_t lock; /* of the bar and of messages */
    ulp_status status;
} job;

/* ---- pieces ---- */

/* The name of a piece in the journal: the case, its inputs and random words, and whose kernels rounded them. */
static void name_piece(char to[PIECE_NAME_MAX], const job *j, size_t index) {
    char kernels[64];
    snprintf(kernels, sizeof kernels, "%s:%s", j->backend->name, j->backend->what);
    for (char *c = kernels; *c != '\0'; c++)
        if (strchr(" \t\n", *c) != NULL) *c = '_';
    snprintf(to, PIECE_NAME_MAX, "%s %s %s %d %" PRIu64 " %d %" PRIu64 " %s %zu", j->format.name,
             ulp_mode_name((ulp_mode)j->rule.mode), ulp_overflow_name((ulp_overflow)j->rule.overflow),
             j->rule.random_bits, j->inputs, j->exhaustive, j->stream.seed, kernels, index);
}

static void keep(job *j, size_t index, const piece *p) {
    char name[PIECE_NAME_MAX];
    if (j->journal == NULL) return;
    name_piece(name, j, index);
    journal_keep(j->journal, name, p->mismatches, p->hash);
}

/* Marks the pieces of this case that the journal has. */
static void recall(job *j) {
    for (size_t i = 0; j->journal != NULL && i < j->pieces; i++) {
        char name[PIECE_NAME_MAX];
        piece *p = &j->piece[i];
        name_piece(name, j, i);
        p->done = journal_find(j->journal, name, &p->mismatches, &p->hash);
        if (p->done) j->finished += j->per_piece;
    }
}

/* ---- comparing ---- */

static uint64_t fold(uint64_t hash, uint64_t value) {
    hash = (hash ^ value) * 0x9e3779b97f4a7c15u;
    return hash ^ hash >> 29;
}

static void show(job *j, double x, double got, double want, uint32_t word) {
    if (__atomic_add_fetch(&j->shown, 1, __ATOMIC_RELAXED) > SHOWN) return;
    pthread_mutex_lock(&j->lock);
    ulp_progress_clear(&j->bar);
    ulp_complain(tool_verify.command.name, "%s %s %s: x = %a word %08x: got %a, want %a", j->format.name,
                 ulp_mode_name((ulp_mode)j->rule.mode), ulp_overflow_name((ulp_overflow)j->rule.overflow), x, word, got,
                 want);
    pthread_mutex_unlock(&j->lock);
}

static int differs(double got, double want) {
    if (want != want) return ulp_bits64(got) != ulp_bits64(ulp_quiet_nan());
    return ulp_bits64(got) != ulp_bits64(want);
}

/* Backend memory for a chunk, one per thread. */
typedef struct room {
    float *x32;
    double *x;
} room;

/* y (n) = x (n) rounded by the backend, in each carrier that the case is tested in. */
static ulp_status round_chunk(const job *j, const room *there, double *y, const double *x, float *y32, const float *x32,
                              size_t n, ulp_stream stream) {
    const ulp_backend *b = j->backend;
    ulp_status status = ULP_OK;
    if (!j->exhaustive || !j->format.fits_binary32) {
        status = b->upload(there->x, x, n * sizeof *x);
        if (status == ULP_OK)
            status = ulp_backend_round64(b, there->x, there->x, n, (ulp_rounding){&j->format, j->rule, stream, NULL});
        if (status == ULP_OK) status = b->download(y, there->x, n * sizeof *y);
    }
    if (!j->format.fits_binary32 || status != ULP_OK) return status;
    status = b->upload(there->x32, x32, n * sizeof *x32);
    if (status == ULP_OK)
        status = ulp_backend_round(b, there->x32, there->x32, n, (ulp_rounding){&j->format, j->rule, stream, NULL});
    return status == ULP_OK ? b->download(y32, there->x32, n * sizeof *y32) : status;
}

/* Inputs begin .. begin + n - 1 of the case; both carriers, rounded by the backend. */
static void check_chunk(job *j, ulp_reference *ref, const room *there, uint64_t begin, size_t n, piece *p) {
    float x32[CHUNK], y32[CHUNK];
    double x[CHUNK], y[CHUNK];
    ulp_stream stream = j->stream;
    stream.first = begin;
    for (size_t i = 0; i < n; i++) {
        x[i] = j->exhaustive ? (double)ulp_from_bits32((uint32_t)(begin + i))
                             : verify_sample(&j->format, j->stream.seed, begin + i);
        x32[i] = j->exhaustive ? ulp_from_bits32((uint32_t)(begin + i)) : (float)x[i];
    }
    ulp_status status = round_chunk(j, there, y, x, y32, x32, n, stream);
    if (status != ULP_OK) j->status = status;
    const int stochastic = ulp_mode_is_stochastic(j->rule.mode);
    for (size_t i = 0; i < n && status == ULP_OK; i++) {
        uint32_t word = stochastic ? ulp_random_word(stream, i) : 0;
        const int carried32 = j->format.fits_binary32 && (j->exhaustive || (double)x32[i] == x[i] || x[i] != x[i]);
        double want = ulp_reference_round(ref, x[i], 0.0, j->rule, word);
        double got = j->exhaustive && j->format.fits_binary32 ? (double)y32[i] : y[i];
        p->hash = fold(p->hash, ulp_bits64(got));
        int wrong = differs(got, want);
        if (!wrong && carried32 && differs((double)y32[i], want)) {
            wrong = 1;
            got = (double)y32[i];
        }
        if (wrong) show(j, x[i], got, want, word);
        p->mismatches += (uint64_t)wrong;
    }
}

static void progress(job *j, uint64_t more) {
    const uint64_t done = __atomic_add_fetch(&j->finished, more, __ATOMIC_RELAXED);
    char detail[ULP_NAME_MAX + 16];
    snprintf(detail, sizeof detail, "%s %s", j->format.name, ulp_mode_name((ulp_mode)j->rule.mode));
    pthread_mutex_lock(&j->lock);
    ulp_progress_show(&j->bar, (double)done / (double)j->inputs, detail);
    pthread_mutex_unlock(&j->lock);
}

static void check_pieces(void *context, size_t begin, size_t end) {
    job *j = context;
    ulp_reference *ref = ulp_reference_new(&j->format);
    const room there = {j->backend->alloc(CHUNK * sizeof *there.x32), j->backend->alloc(CHUNK * sizeof *there.x)};
    const int good = ref != NULL && there.x32 != NULL && there.x != NULL;
    if (!good) j->status = ULP_NO_MEMORY;
    for (size_t i = begin; i < end && good; i++) {
        piece *p = &j->piece[i];
        if (p->done) continue;
        uint64_t at = i * j->per_piece, stop = at + j->per_piece < j->inputs ? at + j->per_piece : j->inputs;
        piece fresh = {0, 0, 1};
        for (; at < stop; at += CHUNK) {
            size_t n = stop - at < CHUNK ? (size_t)(stop - at) : CHUNK;
            check_chunk(j, ref, &there, at, n, &fresh);
            if (at % (64 * CHUNK) == 0) progress(j, stop - at < 64 * CHUNK ? stop - at : 64 * CHUNK);
        }
        if (j->status != ULP_OK) break; /* its inputs may not have been checked */
        *p = fresh;
        keep(j, i, &fresh);
    }
    if (there.x32 != NULL) j->backend->release(there.x32);
    if (there.x != NULL) j->backend->release(there.x);
    ulp_reference_free(ref);
}

/* Runs the case and prints its line; 1 if it passed. */
static int run_case(job *j, size_t number, size_t of) {
    j->pieces = j->exhaustive ? 1024 : (size_t)((j->inputs + 16383) / 16384);
    j->per_piece = (j->inputs + j->pieces - 1) / j->pieces;
    j->piece = calloc(j->pieces + 1, sizeof *j->piece);
    if (j->piece == NULL) {
        j->status = ULP_NO_MEMORY;
        return 0;
    }
    j->finished = 0;
    j->shown = 0;
    recall(j);
    j->bar = ulp_progress_start(tool_verify.command.name, (double)j->finished / (double)j->inputs);
    ulp_parallel_for(j->pieces, 1, check_pieces, j);
    uint64_t mismatches = 0, hash = 0;
    for (size_t i = 0; i < j->pieces; i++) {
        mismatches += j->piece[i].mismatches;
        hash = fold(hash, j->piece[i].hash);
    }
    free(j->piece);
    j->piece = NULL;
    ulp_progress_clear(&j->bar);
    if (j->status != ULP_OK) return 0;
    printf("%s %zu/%zu %s %s %s: %llu inputs, %llu mismatches, hash %016llx\n", mismatches == 0 ? "PASS" : "FAIL",
           number, of, j->format.name, ulp_mode_name((ulp_mode)j->rule.mode),
           ulp_overflow_name((ulp_overflow)j->rule.overflow), (unsigned long long)j->inputs,
           (unsigned long long)mismatches, (unsigned long long)hash);
    fflush(stdout);
    return mismatches == 0;
}

/* ---- the cases ---- */

enum { ALL_POLICIES = ULP_OVERFLOW_COUNT };

/* ulp_overflow, or ALL_POLICIES. */
static int read_policies(void *field, const char *text, const ulp_option *option, ulp_text *error) {
    *(int *)field = ALL_POLICIES;
    return strcmp(text, "all") == 0 ? ULP_EXIT_FINE : ulp_type_overflow.read(field, text, option, error);
}

static void print_policies(ulp_text *to, const void *field, const ulp_option *option) {
    const int policy = *(const int *)field;
    (void)option;
    ulp_text_print(to, "%s", policy == ALL_POLICIES ? "all" : ulp_overflow_name((ulp_overflow)policy));
}

static const ulp_option_type policies_type = {
    .value_name = "POLICY", .size = sizeof(int), .read = read_policies, .print = print_policies};

static struct settings {
    ulp_format_list formats;
    ulp_rule_list modes;
    int policies;
    int exhaustive;
    uint64_t sample, bits, seed, jobs;
    const char *resume;
    const ulp_backend *backend;
} given;

static const ulp_option options[] = {
    {.name = "format",
     .type = &ulp_type_formats,
     ULP_AT(struct settings, formats),
     .value = "all",
     .help = "formats, commas between them, or all that are registered"},
    {.name = "mode",
     .type = &ulp_type_modes,
     ULP_AT(struct settings, modes),
     .value = "all",
     .help = "rounding modes, commas between them, or all"},
    {.name = "overflow",
     .type = &policies_type,
     ULP_AT(struct settings, policies),
     .help = "default, inf, sat, nan, wrap, or all; all unless given, the format's own under --exhaustive"},
    {.name = "exhaustive",
     .type = &ulp_type_flag,
     ULP_AT(struct settings, exhaustive),
     .help = "all 2^32 binary32 inputs"},
    {.name = "sample",
     .type = &ulp_type_unsigned,
     ULP_AT(struct settings, sample),
     .value = "100000",
     .min = 1,
     .max = 0x1p40,
     .help = "N inputs per case, boundary patterns and random ones, binary32 and binary64"},
    {.name = "bits",
     .type = &ulp_type_unsigned,
     ULP_AT(struct settings, bits),
     .min = 1,
     .max = 32,
     .help = "random bits of the stochastic modes; 32 unless given"},
    {.name = "seed",
     .type = &ulp_type_unsigned,
     ULP_AT(struct settings, seed),
     .value = "1",
     .help = "of inputs and of random bits"},
    {.name = "jobs",
     .type = &ulp_type_unsigned,
     ULP_AT(struct settings, jobs),
     .min = 1,
     .max = 65536,
     .help = "threads; OMP_NUM_THREADS, else all processors, unless given"},
    {.name = "resume",
     .type = &ulp_type_text,
     ULP_AT(struct settings, resume),
     .value_name = "FILE",
     .help = "keeps finished pieces in FILE, a journal, and goes on from there"},
    {.name = "backend",
     .type = &ulp_type_backend,
     ULP_AT(struct settings, backend),
     .value = "cpu",
     .help = "whose kernels: cpu or cuda"},
    {0},
};

static int first_policy(void) { return given.policies == ALL_POLICIES ? ULP_OVERFLOW_INF : given.policies; }
static int last_policy(void) { return given.policies == ALL_POLICIES ? ULP_OVERFLOW_WRAP : given.policies; }
static int offered(const ulp_format *f, int policy) { return policy != ULP_OVERFLOW_WRAP || f->is_fixed; }

static size_t count_cases(void) {
    size_t n = 0;
    for (size_t f = 0; f < given.formats.count; f++)
        for (int p = first_policy(); p <= last_policy(); p++)
            n += (size_t)offered(&given.formats.at[f], p) * given.modes.count;
    return n;
}

/* The cases of one format; ULP_GO_ON, or the exit status after a message. */
static int run_format(job *j, size_t *number, size_t *failed) {
    const size_t of = count_cases();
    for (size_t m = 0; m < given.modes.count; m++)
        for (int p = first_policy(); p <= last_policy(); p++) {
            if (!offered(&j->format, p)) continue;
            j->rule = given.modes.at[m].rule;
            j->rule.overflow = (uint8_t)p;
            if (j->rule.random_bits == 0) j->rule.random_bits = (uint8_t)(given.bits ? given.bits : 32);
            *failed += (size_t)!run_case(j, ++*number, of);
            if (j->status != ULP_OK)
                return ulp_run_error(tool_verify.command.name, "%s: %s", j->format.name, ulp_status_text(j->status));
        }
    return ULP_GO_ON;
}

static int run_cases(job *j) {
    const double started = ulp_clock();
    size_t number = 0, failed = 0;
    int status = ULP_GO_ON;
    for (size_t f = 0; f < given.formats.count && status == ULP_GO_ON; f++) {
        j->format = given.formats.at[f];
        status = run_format(j, &number, &failed);
    }
    if (status != ULP_GO_ON) return status;
    printf("%zu cases, %llu inputs: %zu passed, %zu failed, %.1f s on %d threads\n", number,
           (unsigned long long)(number * j->inputs), number - failed, failed, ulp_clock() - started, ulp_threads_get());
    return failed == 0 ? ULP_EXIT_FINE : ULP_EXIT_FAILED;
}

/* Random bits are of the stochastic modes: modes that are named have to be. */
static int check_bits(const ulp_arguments *a) {
    const ulp_setting *mode = ulp_setting_find(a, "mode");
    for (size_t m = 0; given.bits != 0 && strcmp(mode->value, "all") != 0 && m < given.modes.count; m++)
        if (!ulp_mode_is_stochastic(given.modes.at[m].rule.mode))
            return ulp_usage_error(a->program,
                                   "--bits %llu: random bits are of the stochastic modes (sra, srb, src), not of %s",
                                   (unsigned long long)given.bits, given.modes.at[m].name);
    return ULP_GO_ON;
}

static int run(const ulp_arguments *a) {
    if (given.exhaustive && ulp_setting_given(a, "sample"))
        return ulp_usage_error(a->program, "--exhaustive and --sample exclude each other");
    int status = check_bits(a);
    if (status != ULP_GO_ON) return status;
    if (!ulp_setting_given(a, "overflow")) given.policies = given.exhaustive ? ULP_OVERFLOW_DEFAULT : ALL_POLICIES;
    if (count_cases() == 0)
        return ulp_usage_error(a->program,
                               "--overflow wrap is offered by fixed point alone: there is no case to verify");
    job j = {.backend = given.backend,
             .exhaustive = given.exhaustive,
             .inputs = given.exhaustive ? 1ull << 32 : given.sample,
             .stream = {given.seed, 0, 0}};
    if (given.resume != NULL) status = journal_open(&j.journal, a->program, given.resume);
    if (status != ULP_GO_ON) return status;
    pthread_mutex_init(&j.lock, NULL);
    ulp_threads_set((int)given.jobs);
    status = run_cases(&j);
    pthread_mutex_destroy(&j.lock);
    const int closed = j.journal != NULL ? journal_close(j.journal) : ULP_GO_ON;
    return closed == ULP_GO_ON ? status : closed;
}

#else

static const ulp_option options[] = {{0}};
static int given;

static int run(const ulp_arguments *a) {
    ulp_complain(a->program, "this build has no MPFR; install libmpfr-dev and run make again");
    return ULP_EXIT_LACKING;
}

#endif

const tool_command tool_verify = {
    .command = {.name = "ulp verify",
                .usage = "[OPTION...]",
                .summary = "compares rounding with GNU MPFR",
                .details =
                    "One PASS or FAIL line per case of format, mode and overflow policy, then a count; the exit status "
                    "is the verdict. A journal keeps pieces of any case: taken are those of the same case, inputs, "
                    "seed, backend and instruction set or device, others are computed and kept beside them. A journal "
                    "of another build is refused.\n"},
    .groups = {{"options", options, &given}},
    .run = run};
