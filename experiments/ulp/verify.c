/* verify.c - ulp verify: rounding against the MPFR oracle, sampled or over all 2^32 binary32 inputs.
 *
 * A case is a format, a mode and an overflow policy. Its inputs go through the array kernels of the backend
 * in use, that is what experiments run on, and every result is compared, bit for bit, with the oracle.
 * Work is cut into pieces; the hash of a case combines the hashes of its pieces in order, so it does not
 * depend on threads, and a run that was stopped goes on with the pieces listed in the --resume file, its journal.
 */
#include "tool.h"

#include <string.h>

#if defined(ULP_WITH_MPFR)

#include "sim/reference.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum { CHUNK = 4096, SHOWN = 5 };

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
    int shown;          /* mismatches printed so far */
    const char *resume; /* path or NULL */
    FILE *journal;
    double started;
    uint64_t finished; /* inputs done, for the bar */
    int bar;
    ulp_status status;
} job;

static double seconds(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* ---- inputs ---- */

static const uint64_t sample_stream = 0x76657269; /* its own use of the generator: "veri" */

/* A value near a breakpoint of the format: a random code's value, or the middle between it and its neighbour, moved by
 * up to two units of the carrier's last place. */
static double near_breakpoint(const ulp_format *f, uint64_t seed, uint64_t i, int binary32) {
    uint64_t r0 = ulp_random_word((ulp_stream){seed, sample_stream, 0}, 4 * i),
             r1 = ulp_random_word((ulp_stream){seed, sample_stream, 0}, 4 * i + 1);
    uint64_t r2 = ulp_random_word((ulp_stream){seed, sample_stream, 0}, 4 * i + 2);
    double v = ulp_decode(r0 << 32 | r1, f);
    if (v - v != 0.0) v = f->max;
    double next = ulp_next_up(v, f);
    int where = (int)(r2 % 4); /* the value, quarter, middle, three quarters of the gap */
    if (next - next == 0.0) v += (next - v) * 0.25 * where;
    int64_t nudge = (int64_t)(r2 >> 8 & 7) - 3;
    nudge = nudge < -2 || nudge > 2 ? 0 : nudge;
    if (binary32) return ulp_from_bits32(ulp_bits32((float)v) + (uint32_t)nudge);
    return ulp_from_bits64(ulp_bits64(v) + (uint64_t)nudge);
}

static double sample(const job *j, uint64_t i) {
    ulp_stream s = {j->stream.seed, sample_stream + 1, 0};
    const int binary32 = (i & 1) == 0 && j->format.fits_binary32;
    if ((i & 6) != 0) return near_breakpoint(&j->format, j->stream.seed, i, binary32);
    uint64_t bits = (uint64_t)ulp_random_word(s, 2 * i) << 32 | ulp_random_word(s, 2 * i + 1);
    return binary32 ? (double)ulp_from_bits32((uint32_t)bits) : ulp_from_bits64(bits);
}

/* ---- the journal: a head, then a line for every finished piece, whatever its case, appended ---- */

static const char journal_head[] =
    "# journal of ulp verify: format mode overflow bits inputs exhaustive seed kernels piece mismatches hash\n";

enum { ENTRY_MAX = 256 };

/* What pieces have in common that stand for one another: the case, its inputs and random words, and whose kernels
 * rounded them. */
typedef struct piece_key {
    char format[64], mode[16], overflow[16], kernels[64]; /* backend:instruction set or device */
    unsigned bits;
    int exhaustive;
    uint64_t inputs, seed;
} piece_key;

static piece_key key_of(const job *j) {
    piece_key k = {
        .bits = j->rule.random_bits, .exhaustive = j->exhaustive, .inputs = j->inputs, .seed = j->stream.seed};
    snprintf(k.format, sizeof k.format, "%s", j->format.name);
    snprintf(k.mode, sizeof k.mode, "%s", ulp_mode_name((ulp_mode)j->rule.mode));
    snprintf(k.overflow, sizeof k.overflow, "%s", ulp_overflow_name((ulp_overflow)j->rule.overflow));
    snprintf(k.kernels, sizeof k.kernels, "%s:%s", j->backend->name, j->backend->what);
    for (char *c = k.kernels; *c != '\0'; c++)
        if (strchr(" \t\n", *c) != NULL) *c = '_';
    return k;
}

static void print_entry(char text[ENTRY_MAX], const piece_key *k, size_t index, const piece *p) {
    snprintf(text, ENTRY_MAX, "%s %s %s %u %" PRIu64 " %d %" PRIu64 " %s %zu %" PRIu64 " %016" PRIx64 "\n", k->format,
             k->mode, k->overflow, k->bits, k->inputs, k->exhaustive, k->seed, k->kernels, index, p->mismatches,
             p->hash);
}

/* What a line says; 0 unless it is, letter for letter, what print_entry writes. */
static int read_entry(const char *line, piece_key *k, size_t *index, piece *p) {
    char again[ENTRY_MAX];
    p->done = 1;
    if (sscanf(line, "%63s %15s %15s %u %" SCNu64 " %d %" SCNu64 " %63s %zu %" SCNu64 " %16" SCNx64, k->format, k->mode,
               k->overflow, &k->bits, &k->inputs, &k->exhaustive, &k->seed, k->kernels, index, &p->mismatches,
               &p->hash) != 11)
        return 0;
    print_entry(again, k, *index, p);
    return strcmp(line, again) == 0;
}

static int same_key(const piece_key *a, const piece_key *b) {
    return strcmp(a->format, b->format) == 0 && strcmp(a->mode, b->mode) == 0 &&
           strcmp(a->overflow, b->overflow) == 0 && strcmp(a->kernels, b->kernels) == 0 && a->bits == b->bits &&
           a->inputs == b->inputs && a->exhaustive == b->exhaustive && a->seed == b->seed;
}

static _Noreturn void refuse_entry(const job *j, unsigned long number) {
    tool_usage(&tool_verify,
               "--resume %s:%lu: this line of the journal cannot be read; without it its piece is computed again",
               j->resume, number);
}

/* Reads the journal, refuses it if it is none, and marks the pieces of this case, if there is one, that it lists.
 * Returns where a torn last line begins, which a run leaves that is stopped; -1 if there is none. Journals may follow
 * each other in a file. */
static long read_journal(job *j, FILE *file) {
    char line[ENTRY_MAX];
    const piece_key key = key_of(j);
    piece_key k;
    piece p;
    size_t index;
    long at = 0, torn = -1;
    for (unsigned long number = 1; torn < 0 && fgets(line, sizeof line, file) != NULL; number++) {
        const size_t n = strlen(line);
        if (strchr(line, '\n') == NULL && feof(file)) torn = at;
        const int head =
            torn < 0 ? strcmp(line, journal_head) == 0 : ftell(file) == (long)n && strncmp(line, journal_head, n) == 0;
        if (number == 1 && !head)
            tool_usage(&tool_verify, "--resume %s: this file is no journal of ulp verify; it stays as it is",
                       j->resume);
        at += (long)n;
        if (head || torn >= 0) continue;
        if (!read_entry(line, &k, &index, &p)) refuse_entry(j, number);
        if (j->piece == NULL || !same_key(&k, &key)) continue;
        if (index >= j->pieces) refuse_entry(j, number);
        if (!j->piece[index].done) j->finished += j->per_piece;
        j->piece[index] = p;
    }
    if (ferror(file)) tool_failed(&tool_verify, NULL, "cannot read %s: %s", j->resume, strerror(errno));
    return torn;
}

/* The journal, ready for more lines; a torn one is cut off. */
static void open_journal(job *j) {
    j->journal = fopen(j->resume, "a+");
    if (j->journal == NULL) tool_usage(&tool_verify, "cannot write %s: %s", j->resume, strerror(errno));
    rewind(j->journal);
    const long torn = read_journal(j, j->journal);
    if (torn >= 0 && ftruncate(fileno(j->journal), torn) != 0)
        tool_failed(&tool_verify, NULL, "cannot write %s: %s", j->resume, strerror(errno));
    if (fseek(j->journal, 0, SEEK_END) == 0 && ftell(j->journal) == 0) fputs(journal_head, j->journal);
    fflush(j->journal);
}

static void close_journal(job *j) {
    const int failed = ferror(j->journal);
    if ((fclose(j->journal) != 0) | failed)
        tool_failed(&tool_verify, NULL, "cannot write %s: finished pieces are missing there", j->resume);
}

/* One write, so that lines of several threads do not mix. */
static void note(job *j, size_t index, const piece *p) {
    char line[ENTRY_MAX];
    const piece_key key = key_of(j);
    if (j->journal == NULL) return;
    print_entry(line, &key, index, p);
    fputs(line, j->journal);
    fflush(j->journal);
}

/* Mark the pieces of this case that the journal lists. */
static void recall(job *j) {
    FILE *file = j->resume == NULL ? NULL : fopen(j->resume, "r");
    if (file == NULL) return;
    read_journal(j, file);
    fclose(file);
}

/* ---- comparing ---- */

static uint64_t fold(uint64_t hash, uint64_t value) {
    hash = (hash ^ value) * 0x9e3779b97f4a7c15u;
    return hash ^ hash >> 29;
}

static void show(job *j, double x, double got, double want, uint32_t word) {
    if (__atomic_add_fetch(&j->shown, 1, __ATOMIC_RELAXED) > SHOWN) return;
    fprintf(stderr, "%s%s %s %s: x = %a word %08x: got %a, want %a\n", j->bar ? "\r\033[K" : "", j->format.name,
            ulp_mode_name((ulp_mode)j->rule.mode), ulp_overflow_name((ulp_overflow)j->rule.overflow), x, word, got,
            want);
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
        x[i] = j->exhaustive ? (double)ulp_from_bits32((uint32_t)(begin + i)) : sample(j, begin + i);
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
    uint64_t done = __atomic_add_fetch(&j->finished, more, __ATOMIC_RELAXED);
    if (!j->bar) return;
    double share = (double)done / (double)j->inputs, spent = seconds() - j->started;
    char text[128], cells[31];
    for (int i = 0; i < 30; i++) cells[i] = i < (int)(share * 30.0) ? '#' : '.';
    cells[30] = '\0';
    snprintf(text, sizeof text, "\r%s %s [%s] %3.0f%%, %.0f s left \033[K", j->format.name,
             ulp_mode_name((ulp_mode)j->rule.mode), cells, 100.0 * share, share > 0 ? spent / share - spent : 0.0);
    fputs(text, stderr);
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
        note(j, i, &fresh);
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
    j->started = seconds();
    recall(j);
    ulp_parallel_for(j->pieces, 1, check_pieces, j);
    uint64_t mismatches = 0, hash = 0;
    for (size_t i = 0; i < j->pieces; i++) {
        mismatches += j->piece[i].mismatches;
        hash = fold(hash, j->piece[i].hash);
    }
    free(j->piece);
    j->piece = NULL;
    if (j->bar) fputs("\r\033[K", stderr);
    if (j->status != ULP_OK) return 0;
    printf("%s %zu/%zu %s %s %s: %llu inputs, %llu mismatches, hash %016llx\n", mismatches == 0 ? "PASS" : "FAIL",
           number, of, j->format.name, ulp_mode_name((ulp_mode)j->rule.mode),
           ulp_overflow_name((ulp_overflow)j->rule.overflow), (unsigned long long)j->inputs,
           (unsigned long long)mismatches, (unsigned long long)hash);
    fflush(stdout);
    return mismatches == 0;
}

/* ---- the cases ---- */

typedef struct selection {
    ulp_format *formats;
    size_t format_count;
    int mode_first, mode_last, policy_first, policy_last;
} selection;

static int offered(const ulp_format *f, int policy) { return policy != ULP_OVERFLOW_WRAP || f->is_fixed; }

static size_t count_cases(const selection *s) {
    size_t n = 0;
    for (size_t f = 0; f < s->format_count; f++)
        for (int p = s->policy_first; p <= s->policy_last; p++)
            n += (size_t)offered(&s->formats[f], p) * (size_t)(s->mode_last - s->mode_first + 1);
    return n;
}

static int run_cases(job *j, const selection *s) {
    const size_t of = count_cases(s);
    if (of == 0)
        tool_usage(&tool_verify, "--overflow wrap is offered by fixed point alone: there is no case to verify");
    size_t number = 0, failed = 0;
    double started = seconds();
    uint64_t inputs = 0;
    for (size_t f = 0; f < s->format_count; f++)
        for (int m = s->mode_first; m <= s->mode_last; m++)
            for (int p = s->policy_first; p <= s->policy_last; p++) {
                if (!offered(&s->formats[f], p)) continue;
                j->format = s->formats[f];
                j->rule.mode = (uint8_t)m;
                j->rule.overflow = (uint8_t)p;
                failed += (size_t)!run_case(j, ++number, of);
                inputs += j->inputs;
                if (j->status != ULP_OK) {
                    fprintf(stderr, "ulp verify: %s: %s\n", j->format.name, ulp_status_text(j->status));
                    return TOOL_FAILED;
                }
            }
    printf("%zu cases, %llu inputs: %zu passed, %zu failed, %.1f s on %d threads\n", of, (unsigned long long)inputs,
           of - failed, failed, seconds() - started, ulp_threads_get());
    return failed == 0 && of > 0 ? tool_finish(&tool_verify) : TOOL_FAILED;
}

static void select_formats(selection *s, const char *text) {
    const size_t n = strcmp(text, "all") == 0 ? ulp_format_count : 1;
    s->formats = calloc(n, sizeof *s->formats);
    if (s->formats == NULL) tool_failed(&tool_verify, NULL, "out of memory");
    s->format_count = n;
    for (size_t i = 0; n > 1 && i < n; i++) ulp_format_get(i, &s->formats[i], NULL);
    ulp_status status = n > 1 ? ULP_OK : ulp_format_parse(&s->formats[0], text);
    if (status != ULP_OK) tool_bad_format(&tool_verify, text, status);
}

static int run(int argc, char **argv) {
    const char *format = "all", *mode = "all", *policy = NULL, *resume = NULL, *backend = NULL;
    int exhaustive = 0, sampled = 0;
    uint64_t count = 100000, jobs = 0, seed = 1, bits = 0;
    const tool_option options[] = {{"format", TOOL_TEXT, &format, 0, 0, NULL},
                                   {"mode", TOOL_TEXT, &mode, 0, 0, NULL},
                                   {"overflow", TOOL_TEXT, &policy, 0, 0, NULL},
                                   {"bits", TOOL_NUMBER, &bits, 1, 32, NULL},
                                   {"exhaustive", TOOL_FLAG, &exhaustive, 0, 0, NULL},
                                   {"sample", TOOL_NUMBER, &count, 1, 1ull << 40, &sampled},
                                   {"jobs", TOOL_NUMBER, &jobs, 1, 4096, NULL},
                                   {"seed", TOOL_NUMBER, &seed, 0, UINT64_MAX, NULL},
                                   {"resume", TOOL_TEXT, &resume, 0, 0, NULL},
                                   {"backend", TOOL_TEXT, &backend, 0, 0, NULL},
                                   {0}};
    if (tool_parse(&tool_verify, options, argc, argv) != 0) tool_usage(&tool_verify, "takes no words: '%s'", argv[0]);
    if (exhaustive && sampled) tool_usage(&tool_verify, "--exhaustive and --sample exclude each other");
    selection s = {.mode_first = 0,
                   .mode_last = ULP_MODE_COUNT - 1,
                   .policy_first = ULP_OVERFLOW_INF,
                   .policy_last = ULP_OVERFLOW_WRAP};
    if (policy == NULL) policy = exhaustive ? "default" : "all";
    if (strcmp(mode, "all") != 0) {
        ulp_mode one = ULP_RNE;
        const tool_option pick[] = {{"mode", TOOL_MODE, &one, 0, 0, NULL}, {0}};
        char *words[] = {(char[]){"--mode"}, (char *)(uintptr_t)mode};
        tool_parse(&tool_verify, pick, 2, words);
        tool_check_bits(&tool_verify, bits, one);
        s.mode_first = s.mode_last = (int)one;
    }
    if (strcmp(policy, "all") != 0) {
        ulp_overflow one;
        if (ulp_overflow_parse(&one, policy) != ULP_OK)
            tool_usage(&tool_verify, "--overflow %s: must be all, default, inf, sat, nan or wrap", policy);
        s.policy_first = s.policy_last = (int)one;
    }
    const ulp_backend *machine = tool_backend(&tool_verify, backend);
    select_formats(&s, format);
    job j = {.backend = machine,
             .exhaustive = exhaustive,
             .inputs = exhaustive ? 1ull << 32 : count,
             .stream = {seed, 0, 0},
             .resume = resume};
    j.rule.random_bits = (uint8_t)(bits ? bits : 32);
    j.bar = isatty(STDERR_FILENO);
    if (resume != NULL) open_journal(&j);
    ulp_threads_set((int)jobs);
    int status = run_cases(&j, &s);
    if (j.journal != NULL) close_journal(&j);
    free(s.formats);
    return status;
}

#else

static int run(int argc, char **argv) {
    const tool_option options[] = {{0}};
    if (argc > 0 && strcmp(argv[0], "--help") == 0) tool_parse(&tool_verify, options, argc, argv);
    fprintf(stderr, "ulp verify: this build has no MPFR; install libmpfr-dev and run make again\n");
    return TOOL_LACKING;
}

#endif

const tool_command tool_verify = {
    "verify",
    "verify [--format F|all] [--mode M|all] [--overflow P|all] [--exhaustive | --sample N]\n"
    "                  [--bits R] [--seed S] [--jobs J] [--resume FILE] [--backend cpu|cuda]",
    "compares rounding with GNU MPFR",
    "One PASS or FAIL line per case of format, mode and overflow policy, then a count; the exit status is the "
    "verdict.\n"
    "  --sample N      N inputs per case, boundary patterns and random, binary32 and binary64 (default 100000);\n"
    "                  every overflow policy unless --overflow names one\n"
    "  --exhaustive    all 2^32 binary32 inputs; the format's own policy unless --overflow says more\n"
    "  --resume FILE   keeps finished pieces in FILE, a journal, and goes on from there; taken are pieces of the same\n"
    "                  case, inputs, seed, backend and instruction set or device, others are computed\n"
    "  --jobs J        threads\n"
    "  --backend B     whose kernels: cpu, the default, or cuda\n",
    run};
