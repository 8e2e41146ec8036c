/* verify_case.c - running one case of ulp verify, divided into pieces.
 *
 * The array kernels of the backend, which experiments use, round the inputs, and every result is compared bit for bit
 * with the oracle. The hash of a case combines the hashes of its pieces in their order, so that it does not depend on
 * threads. A resumed run takes finished pieces from its journal.
 */
#if defined(ULP_WITH_MPFR)

#include "base/decimal.h"
#include "kernels/mpfr/reference.h"
#include "verify.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CHUNK = 4096, SHOWN = 5, CASE_NAME_MAX = 64, PIECE_NAME_MAX = 256 };

/* ---- the inputs of --sample ---- */

static const uint64_t sample_stream = 0x76657269; /* a stream for these inputs alone: "veri" */

/* A value near a breakpoint of the format: the value of a random code, or a point in the gap to the next value, moved
 * by up to two units in the last place of binary32 or binary64. */
static double near_breakpoint(const ulp_format *f, uint64_t seed, uint64_t i, int binary32) {
    uint64_t r0 = ulp_random_word((ulp_stream){seed, sample_stream, 0}, 4 * i),
             r1 = ulp_random_word((ulp_stream){seed, sample_stream, 0}, 4 * i + 1);
    uint64_t r2 = ulp_random_word((ulp_stream){seed, sample_stream, 0}, 4 * i + 2);
    double v = ulp_decode(r0 << 32 | r1, f);
    if (v - v != 0.0) v = f->max;
    double next = ulp_next_up(v, f);
    int where = (int)(r2 % 4); /* the value, or a quarter, the middle or three quarters of the gap */
    if (next - next == 0.0) v += (next - v) * 0.25 * where;
    int64_t nudge = (int64_t)(r2 >> 8 & 7) - 3;
    nudge = nudge < -2 || nudge > 2 ? 0 : nudge;
    if (binary32) return ulp_from_bits32(ulp_bits32((float)v) + (uint32_t)nudge);
    return ulp_from_bits64(ulp_bits64(v) + (uint64_t)nudge);
}

/* Input i, a function of the arguments alone. Three of four inputs are values near a breakpoint of the format, the
 * others have random bits. If i is even and the format fits binary32, the input is a binary32 value, else a binary64
 * value. */
static double sample(const ulp_format *f, uint64_t seed, uint64_t i) {
    const ulp_stream s = {seed, sample_stream + 1, 0};
    const int binary32 = (i & 1) == 0 && f->fits_binary32;
    if ((i & 6) != 0) return near_breakpoint(f, seed, i, binary32);
    const uint64_t bits = (uint64_t)ulp_random_word(s, 2 * i) << 32 | ulp_random_word(s, 2 * i + 1);
    return binary32 ? (double)ulp_from_bits32((uint32_t)bits) : ulp_from_bits64(bits);
}

/* ---- pieces ---- */

/* Ends the case; any thread may call it. */
static void fail(verify_job *j, ulp_status status) { __atomic_store_n(&j->status, status, __ATOMIC_RELAXED); }

/* The format, the mode and the policy of the case. */
static const char *case_name(char to[CASE_NAME_MAX], const verify_job *j) {
    snprintf(to, CASE_NAME_MAX, "%s %s %s", j->format.name, j->mode.name,
             ulp_overflow_name((ulp_overflow)j->rule.overflow));
    return to;
}

/* The name of a piece in the journal: the case, its inputs and random words, and the backend of the kernels. */
static void name_piece(char to[PIECE_NAME_MAX], const verify_job *j, size_t index) {
    char kernels[64], name[CASE_NAME_MAX];
    snprintf(kernels, sizeof kernels, "%s:%s", j->backend->name, j->backend->what);
    for (char *c = kernels; *c != '\0'; c++)
        if (strchr(" \t\n", *c) != NULL) *c = '_';
    snprintf(to, PIECE_NAME_MAX, "%s %d %" PRIu64 " %d %" PRIu64 " %s %zu", case_name(name, j), j->rule.random_bits,
             j->inputs, j->exhaustive, j->stream.seed, kernels, index);
}

static void keep(verify_job *j, size_t index, const verify_piece *p) {
    char name[PIECE_NAME_MAX], result[64];
    if (j->journal == NULL) return;
    name_piece(name, j, index);
    snprintf(result, sizeof result, "%" PRIu64 " %016" PRIx64, p->mismatches, p->hash);
    journal_keep(j->journal, name, result);
}

/* Mark the pieces of this case that the journal has. */
static void recall(verify_job *j) {
    for (size_t i = 0; j->journal != NULL && i < j->pieces; i++) {
        char name[PIECE_NAME_MAX];
        verify_piece *p = &j->piece[i];
        name_piece(name, j, i);
        const char *result = journal_find(j->journal, name);
        p->done = result != NULL && sscanf(result, "%" SCNu64 " %16" SCNx64, &p->mismatches, &p->hash) == 2;
        if (p->done) j->finished += j->per_piece;
    }
}

/* ---- comparing ---- */

static uint64_t mix_hash(uint64_t hash, uint64_t value) {
    hash = (hash ^ value) * 0x9e3779b97f4a7c15u;
    return hash ^ hash >> 29;
}

static void show(verify_job *j, double x, double got, double want, uint32_t word) {
    char name[CASE_NAME_MAX];
    if (__atomic_add_fetch(&j->shown, 1, __ATOMIC_RELAXED) > SHOWN) return;
    pthread_mutex_lock(&j->lock);
    ulp_progress_clear(&j->bar);
    ulp_complain(j->program, "%s: x = %s word %08x: got %s, want %s", case_name(name, j), ULP_HEX(x), word,
                 ULP_HEX(got), ULP_HEX(want));
    pthread_mutex_unlock(&j->lock);
}

static int differs(double got, double want) {
    if (want != want) return ulp_bits64(got) != ulp_bits64(ulp_quiet_nan());
    return ulp_bits64(got) != ulp_bits64(want);
}

/* Inputs that are rounded together, as binary32 and as binary64, and their results. Each thread has one chunk. */
typedef struct chunk {
    float *device32; /* (CHUNK) backend memory */
    double *device;  /* (CHUNK) backend memory */
    float x32[CHUNK], y32[CHUNK];
    double x[CHUNK], y[CHUNK];
} chunk;

/* y (n) = x (n) rounded by the backend, as binary32, as binary64 or both, as the case needs. */
static ulp_status round_chunk(const verify_job *j, chunk *c, size_t n, ulp_stream stream) {
    const ulp_backend *b = j->backend;
    const ulp_rounding rounding = {&j->format, j->rule, stream, NULL};
    ulp_status status = ULP_OK;
    if (!j->exhaustive || !j->format.fits_binary32) {
        status = b->upload(c->device, c->x, n * sizeof *c->x);
        if (status == ULP_OK) status = ulp_backend_round64(b, c->device, c->device, n, rounding);
        if (status == ULP_OK) status = b->download(c->y, c->device, n * sizeof *c->y);
    }
    if (!j->format.fits_binary32 || status != ULP_OK) return status;
    status = b->upload(c->device32, c->x32, n * sizeof *c->x32);
    if (status == ULP_OK) status = ulp_backend_round(b, c->device32, c->device32, n, rounding);
    return status == ULP_OK ? b->download(c->y32, c->device32, n * sizeof *c->y32) : status;
}

/* Check the inputs begin .. begin + n - 1 of the case. */
static void check_chunk(verify_job *j, ulp_reference *ref, chunk *c, uint64_t begin, size_t n, verify_piece *p) {
    ulp_stream stream = j->stream;
    stream.first = begin;
    for (size_t i = 0; i < n; i++) {
        c->x[i] = j->exhaustive ? (double)ulp_from_bits32((uint32_t)(begin + i))
                                : sample(&j->format, j->stream.seed, begin + i);
        c->x32[i] = j->exhaustive ? ulp_from_bits32((uint32_t)(begin + i)) : (float)c->x[i];
    }
    ulp_status status = round_chunk(j, c, n, stream);
    if (status != ULP_OK) fail(j, status);
    const int stochastic = ulp_mode_is_stochastic(j->rule.mode);
    for (size_t i = 0; i < n && status == ULP_OK; i++) {
        uint32_t word = stochastic ? ulp_random_word(stream, i) : 0;
        const int carried32 =
            j->format.fits_binary32 && (j->exhaustive || (double)c->x32[i] == c->x[i] || c->x[i] != c->x[i]);
        double want = ulp_reference_round(ref, c->x[i], 0.0, j->rule, word);
        double got = j->exhaustive && j->format.fits_binary32 ? (double)c->y32[i] : c->y[i];
        p->hash = mix_hash(p->hash, ulp_bits64(got));
        int wrong = differs(got, want);
        if (!wrong && carried32 && differs((double)c->y32[i], want)) {
            wrong = 1;
            got = (double)c->y32[i];
        }
        if (wrong) show(j, c->x[i], got, want, word);
        p->mismatches += (uint64_t)wrong;
    }
}

static void progress(verify_job *j, uint64_t more) {
    const uint64_t done = __atomic_add_fetch(&j->finished, more, __ATOMIC_RELAXED);
    char name[CASE_NAME_MAX];
    pthread_mutex_lock(&j->lock);
    ulp_progress_show(&j->bar, (double)done / (double)j->inputs, case_name(name, j));
    pthread_mutex_unlock(&j->lock);
}

static void check_pieces(void *context, size_t begin, size_t end) {
    verify_job *j = context;
    ulp_reference *ref = ulp_reference_new(&j->format);
    chunk c = {.device32 = j->backend->alloc(CHUNK * sizeof *c.device32),
               .device = j->backend->alloc(CHUNK * sizeof *c.device)};
    const int good = ref != NULL && c.device32 != NULL && c.device != NULL;
    if (!good) fail(j, ULP_NO_MEMORY);
    for (size_t i = begin; i < end && good; i++) {
        verify_piece *p = &j->piece[i];
        if (p->done) continue;
        uint64_t at = i * j->per_piece, stop = at + j->per_piece < j->inputs ? at + j->per_piece : j->inputs;
        verify_piece fresh = {0, 0, 1};
        for (; at < stop; at += CHUNK) {
            size_t n = stop - at < CHUNK ? (size_t)(stop - at) : CHUNK;
            check_chunk(j, ref, &c, at, n, &fresh);
            progress(j, n);
        }
        if (__atomic_load_n(&j->status, __ATOMIC_RELAXED) != ULP_OK)
            break; /* some inputs of the piece may not be checked */
        *p = fresh;
        keep(j, i, &fresh);
    }
    if (c.device32 != NULL) j->backend->release(c.device32);
    if (c.device != NULL) j->backend->release(c.device);
    ulp_reference_free(ref);
}

int verify_case(verify_job *j, size_t number, size_t of) {
    char name[CASE_NAME_MAX];
    j->pieces = j->exhaustive ? 1024 : (size_t)((j->inputs + 16383) / 16384);
    j->per_piece = (j->inputs + j->pieces - 1) / j->pieces;
    j->piece = calloc(j->pieces + 1, sizeof *j->piece);
    if (j->piece == NULL) {
        j->status = ULP_NO_MEMORY;
        return 0;
    }
    j->finished = 0, j->shown = 0;
    recall(j);
    j->bar = ulp_progress_start(j->program, (double)j->finished / (double)j->inputs);
    ulp_parallel_for(j->pieces, 1, check_pieces, j);
    uint64_t mismatches = 0, hash = 0;
    for (size_t i = 0; i < j->pieces; i++) {
        mismatches += j->piece[i].mismatches;
        hash = mix_hash(hash, j->piece[i].hash);
    }
    free(j->piece);
    ulp_progress_clear(&j->bar);
    if (j->status != ULP_OK) return 0;
    printf("%s %zu/%zu %s: %llu input%s, %llu mismatch%s, hash %016llx\n", mismatches == 0 ? "PASS" : "FAIL", number,
           of, case_name(name, j), (unsigned long long)j->inputs, ulp_plural(j->inputs), (unsigned long long)mismatches,
           mismatches == 1 ? "" : "es", (unsigned long long)hash);
    ulp_flush_stdout();
    return mismatches == 0;
}

#else

typedef int verify_case_needs_mpfr; /* C requires a declaration in every file */

#endif
