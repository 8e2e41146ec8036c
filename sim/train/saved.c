/* saved.c - writing and reading the files of runs; see saved.h and checkpoint.h.
 *
 * A file has these parts: lines of text that describe the run, an empty line, the bytes of the arenas and of the other
 * state, the caller's note, and the CRC-32 of all these parts.
 */
#include "checkpoint.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/checksum.h"
#include "base/file.h"
#include "base/replace.h"
#include "sim/policy/policy_words.h"
#include "saved.h"
#include "tail.h"

enum { VERSION = 3, PIECE = 1 << 16, LINES_MAX = 1 << 18 };

/* ---- the state of a run ---- */

/* Every field is visited by itself, because the padding between fields has no defined value. */
#define VISIT(field) visit(context, &(field), sizeof(field))

static int visit_scaler(ulp_scaler *s, ulp_state_visitor visit, void *context) {
    return VISIT(s->log2) && VISIT(s->good) && VISIT(s->patience) && VISIT(s->overflows) && VISIT(s->skipped) &&
           VISIT(s->grown) && VISIT(s->backed) && VISIT(s->averages);
}

/* A rule may change between steps, but its kind stays. */
static int visit_rule(ulp_optimizer_rule *r, ulp_state_visitor visit, void *context) {
    return VISIT(r->rate) && VISIT(r->momentum) && VISIT(r->decay) && VISIT(r->beta1) && VISIT(r->beta2) &&
           VISIT(r->eps) && VISIT(r->factor) && VISIT(r->warmup) && VISIT(r->cosine) && VISIT(r->every) &&
           VISIT(r->kahan);
}

/* Whether a run began with keys that the files of earlier runs do not have; only then they may change. */
static int has_later_keys(const ulp_optimizer_rule *start) {
    return start->floor != 0.0 || start->clip != 0.0 || start->clip_scaled || start->decays_weights;
}

static int visit_later_keys(ulp_optimizer_rule *r, ulp_state_visitor visit, void *context) {
    return VISIT(r->floor) && VISIT(r->clip);
}

int ulp_learner_visit(const void *learner, ulp_state_visitor visit, void *context) {
    ulp_trainer *t = (ulp_trainer *)learner; /* saving reads the fields, loading writes them */
    int good = VISIT(t->step) && visit_scaler(&t->scaler, visit, context);
    for (size_t i = 0; i < t->loss_scales.count && good; i++)
        good = visit_scaler(&t->loss_scales.layer[i], visit, context);
    const ulp_amax_history *h = &t->pass.history;
    if (good && has_later_keys(&t->start_rule)) good = visit_later_keys(&t->optimizer.rule, visit, context);
    return good && visit_rule(&t->optimizer.rule, visit, context) && VISIT(t->optimizer.updates) &&
           visit(context, h->amax, ULP_AT_COUNT * h->tensors * (h->steps + 1) * sizeof *h->amax);
}

static int add_size(void *context, void *at, size_t bytes) {
    (void)at;
    *(size_t *)context += bytes;
    return 1;
}

/* The number of bytes between the lines of text and the note. */
static size_t state_bytes(const ulp_saved_kind *kind, const void *run) {
    size_t n = 0;
    const ulp_arena *arena;
    for (size_t i = 0; (arena = kind->arena(run, i)) != NULL; i++) n += arena->bytes;
    kind->visit(run, add_size, &n);
    return n;
}

/* ---- the description of a run ---- */

void ulp_lines_add(ulp_lines *lines, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    if (lines->used < LINES_MAX)
        lines->used += (size_t)vsnprintf(lines->text + lines->used, LINES_MAX - lines->used, format, arguments);
    va_end(arguments);
}

static void add_net(ulp_lines *lines, const ulp_net *net) {
    ulp_lines_add(lines, "net:");
    for (size_t i = 0; i < net->count; i++) ulp_lines_add(lines, " %s", net->layers[i].word);
    ulp_lines_add(lines, "\ninput: %zu %zu %zu\n", net->in.c, net->in.h, net->in.w);
}

/* The optimizer and the scaler as the options gave them. */
static void add_rules(ulp_lines *lines, const ulp_optimizer_rule *o, const ulp_scaler_rule *s) {
    ulp_lines_add(
        lines,
        "optimizer: %s, rate %.17g, momentum %.17g, decay %.17g, beta1 %.17g, beta2 %.17g, eps %.17g, warmup %u, "
        "cosine %u, drop %.17g/%u, kahan %d\n",
        o->kind->name, o->rate, o->momentum, o->decay, o->beta1, o->beta2, o->eps, (unsigned)o->warmup,
        (unsigned)o->cosine, o->factor, (unsigned)o->every, o->kahan);
    if (has_later_keys(o))
        ulp_lines_add(lines, "optimizer: floor %.17g, clip %.17g at %s, decays %s\n", o->floor, o->clip,
                      o->clip_scaled ? "scaled" : "unscaled", o->decays_weights ? "weights" : "all");
    if (o->limit != 0.0) ulp_lines_add(lines, "limit: %.17g\n", o->limit);
    if (o->accumulate) {
        char sum[64];
        ulp_cast_write(sum, sizeof sum, &o->sum);
        ulp_lines_add(lines, "accumulate: %u:%s\n", (unsigned)o->accumulate, sum);
    }
    ulp_lines_add(
        lines,
        "scaler: %s, init %d, min %d, max %d, interval %u, hysteresis %u, skip %d, log_max %.17g, overflow_std_dev "
        "%.17g, beta1 %.17g, beta2 %.17g\n",
        s->name, s->init, s->min, s->max, (unsigned)s->interval, (unsigned)s->hysteresis, s->skip, s->log_max,
        s->overflow_std_dev, s->beta1, s->beta2);
}

ulp_status ulp_learner_describe(ulp_lines *lines, const ulp_trainer *t) {
    char policy[ULP_POLICY_TEXT_MAX];
    const ulp_status status = ulp_policy_print(policy, sizeof policy, t->policy);
    add_net(lines, &t->model.net);
    ulp_lines_add(lines, "policy: %s\n", policy);
    add_rules(lines, &t->start_rule, &t->scaler.rule);
    return status;
}

void ulp_lines_add_data(ulp_lines *lines, const ulp_data *data) {
    ulp_lines_add(lines, "data: %s, crc32 %08x, %zu for training of %zu\n", data->name, (unsigned)data->checksum,
                  data->n_train, data->n);
}

/* The order of the bytes of a number: "little" or "big". */
static const char *byte_order(void) {
    const uint16_t one = 1;
    return *(const unsigned char *)&one ? "little" : "big";
}

/* Write the lines that describe the run to lines->text; free() the text. ULP_NO_MEMORY. */
static ulp_status describe(ulp_lines *lines, const ulp_saved_kind *kind, const void *run, size_t note_bytes) {
    *lines = (ulp_lines){malloc(LINES_MAX), 0};
    if (!lines->text) return ULP_NO_MEMORY;
    ulp_lines_add(lines, "ulplab checkpoint %d, %s endian\n", VERSION, byte_order());
    ulp_status status = kind->describe(lines, run);
    ulp_lines_add(lines, "state: %zu\nnote: %zu\n\n", state_bytes(kind, run), note_bytes);
    if (status == ULP_OK && lines->used < LINES_MAX) return ULP_OK;
    free(lines->text);
    return ULP_BAD_ARGUMENT;
}

/* ---- saving ---- */

typedef struct writer {
    FILE *file;
    uint32_t crc;
} writer;

static int put(writer *w, const void *bytes, size_t n) {
    w->crc = ulp_crc32(w->crc, bytes, n);
    return fwrite(bytes, 1, n, w->file) == n;
}

static int put_arena(writer *w, const ulp_arena *arena) {
    unsigned char *piece = malloc(PIECE);
    int good = piece != NULL;
    for (size_t at = 0; at < arena->bytes && good; at += PIECE) {
        size_t n = arena->bytes - at < PIECE ? arena->bytes - at : PIECE;
        good = arena->backend->download(piece, arena->memory + at, n) == ULP_OK && put(w, piece, n);
    }
    free(piece);
    return good;
}

static int put_state(void *context, void *at, size_t bytes) { return put(context, at, bytes); }

/* The content of a file that is to be written. */
typedef struct entry {
    const ulp_saved_kind *kind;
    const void *run, *note;
    size_t note_bytes;
} entry;

static int put_all(writer *w, const entry *e, const ulp_lines *lines) {
    int good = put(w, lines->text, lines->used);
    for (size_t i = 0; e->kind->arena(e->run, i) && good; i++) good = put_arena(w, e->kind->arena(e->run, i));
    good = good && e->kind->visit(e->run, put_state, w);
    if (good && e->note_bytes) good = put(w, e->note, e->note_bytes);
    unsigned char crc[4] = {(unsigned char)(w->crc >> 24), (unsigned char)(w->crc >> 16), (unsigned char)(w->crc >> 8),
                            (unsigned char)w->crc};
    return good && fwrite(crc, 1, sizeof crc, w->file) == sizeof crc;
}

ulp_status ulp_saved_write(const ulp_saved_kind *kind, const void *run, const char *path, const void *note,
                           size_t note_bytes, ulp_error *error) {
    ulp_lines lines;
    ulp_status status = describe(&lines, kind, run, note_bytes);
    if (status != ULP_OK) return ulp_fail(error, status, "%s: %s", path, ulp_status_text(status));
    ulp_replacement *r;
    const ulp_lock_result opened = ulp_replacement_open(&r, path);
    int good = opened == ULP_LOCK_OURS;
    if (good) {
        writer w = {r->file, 0};
        good = put_all(&w, &(entry){kind, run, note, note_bytes}, &lines);
        if (good) good = ulp_replacement_finish(r);
        else {
            const int why = errno;
            ulp_replacement_drop(r);
            errno = why;
        }
    }
    if (!good)
        status = ulp_fail(error, ULP_BAD_FILE, "%s: cannot be written: %s", path,
                          opened == ULP_LOCK_TAKEN ? "another process is writing it" : strerror(errno));
    free(lines.text);
    return status;
}

/* ---- loading ---- */

/* Read the last line, "note: SIZE" with an empty line after it, as it is written. */
static int read_note_size(size_t *note_bytes, const char *line) {
    char right[40];
    if (strncmp(line, "note: ", 6) != 0) return 0;
    *note_bytes = strtoul(line + 6, NULL, 10);
    snprintf(right, sizeof right, "note: %zu\n\n", *note_bytes);
    return strncmp(line, right, strlen(right)) == 0;
}

/* Compare the lines of a file with the lines of this run. The size of the note may differ and goes to *note_bytes. Both
 * texts end with an empty line. */
static ulp_status compare(const char *file_lines, const char *run_lines, size_t *note_bytes, const char *path,
                          ulp_error *error) {
    for (;;) {
        size_t a = strcspn(file_lines, "\n"), b = strcspn(run_lines, "\n");
        if (strncmp(run_lines, "note: ", 6) == 0 && read_note_size(note_bytes, file_lines)) return ULP_OK;
        if (a != b || memcmp(file_lines, run_lines, a) != 0)
            return ulp_fail(error, ULP_BAD_ARGUMENT, "%s is of another run: there '%.*s', here '%.*s'", path,
                            (int)(a < 400 ? a : 400), file_lines, (int)(b < 400 ? b : 400), run_lines);
        file_lines += a + 1;
        run_lines += b + 1;
    }
}

static int take_state(void *context, void *at, size_t bytes) {
    const unsigned char **from = context;
    memcpy(at, *from, bytes);
    *from += bytes;
    return 1;
}

/* Copy the arenas, the rest of the state and the note from the bytes after the lines. */
static ulp_status restore(const ulp_saved_kind *kind, const void *run, const unsigned char *bytes, char *note,
                          size_t note_bytes) {
    for (size_t i = 0; kind->arena(run, i); i++) {
        const ulp_arena *arena = kind->arena(run, i);
        ulp_backend_forget(arena->backend, (const float *)(const void *)arena->memory, arena->bytes / sizeof(float));
        ULP_TRY(arena->backend->upload(arena->memory, bytes, arena->bytes));
        bytes += arena->bytes;
    }
    kind->visit(run, take_state, &bytes);
    memcpy(note, bytes, note_bytes);
    note[note_bytes] = 0;
    return ULP_OK;
}

static uint32_t crc_at(const unsigned char *at) {
    return (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 | (uint32_t)at[3];
}

/* The content of a file in memory. */
typedef struct content {
    const char *path;
    unsigned char *bytes; /* (n) */
    size_t n;
} content;

static ulp_status take(const ulp_saved_kind *kind, const void *run, const content *file, void **note,
                       size_t *note_bytes, ulp_error *error) {
    const unsigned char *bytes = file->bytes;
    const size_t n = file->n;
    const char *path = file->path;
    ulp_lines run_lines;
    const char *file_lines = (const char *)bytes,
               *end = n > 4 ? strstr(file_lines, "\n\n") : NULL; /* ulp_file_read() ends the bytes with a zero */
    if (!end || strncmp(file_lines, "ulplab checkpoint ", 18) != 0)
        return ulp_fail(error, ULP_BAD_FILE, "%s: not a checkpoint", path);
    if (crc_at(bytes + n - 4) != ulp_crc32(0, bytes, n - 4))
        return ulp_fail(error, ULP_BAD_FILE, "%s: damaged or truncated", path);
    ulp_status status = describe(&run_lines, kind, run, 0);
    if (status != ULP_OK) return ulp_fail(error, status, "%s: %s", path, ulp_status_text(status));
    status = compare(file_lines, run_lines.text, note_bytes, path, error);
    free(run_lines.text);
    ULP_TRY(status);
    const size_t before = (size_t)(end + 2 - file_lines), state = before + state_bytes(kind, run);
    if (n - 4 < state || n - 4 - state != *note_bytes)
        return ulp_fail(error, ULP_BAD_FILE, "%s: damaged or truncated", path);
    *note = malloc(*note_bytes + 1);
    status = *note ? restore(kind, run, bytes + before, *note, *note_bytes) : ULP_NO_MEMORY;
    return status == ULP_OK ? ULP_OK : ulp_fail(error, status, "%s: %s", path, ulp_status_text(status));
}

ulp_status ulp_saved_read(const ulp_saved_kind *kind, const void *run, uint64_t steps, const char *path, void **note,
                          size_t *note_bytes, ulp_error *error) {
    content file = {.path = path};
    *note = NULL;
    *note_bytes = 0;
    if (steps) return ulp_fail(error, ULP_BAD_ARGUMENT, "%s: the run has begun already", path);
    ULP_TRY(ulp_file_read(&file.bytes, &file.n, path, SIZE_MAX / 4, error));
    const ulp_status status = take(kind, run, &file, note, note_bytes, error);
    free(file.bytes);
    if (status == ULP_OK) return ULP_OK;
    free(*note);
    *note = NULL;
    *note_bytes = 0;
    return status;
}

/* ---- the checkpoints of a trainer ---- */

static ulp_status describe_trainer(ulp_lines *lines, const void *run) {
    const ulp_trainer *t = run;
    char reduction[ULP_REDUCTION_TEXT_MAX] = "none";
    ulp_status status = ulp_learner_describe(lines, t);
    if (status == ULP_OK && t->ranks > 1) status = ulp_reduction_print(reduction, sizeof reduction, &t->reduction);
    if (t->tail) {
        char policy[ULP_POLICY_TEXT_MAX];
        status = status == ULP_OK ? ulp_policy_print(policy, sizeof policy, t->tail) : status;
        if (status == ULP_OK)
            ulp_lines_add(lines, "tail: from step %llu, %s\n", (unsigned long long)t->tail_step, policy);
    }
    ulp_lines_add(lines, "seed: %llu\n", (unsigned long long)t->pass.run.seed);
    ulp_lines_add(lines, "batch: %zu\n", t->batch);
    ulp_lines_add(lines, "ranks: %zu, reduction %s\n", t->ranks, reduction);
    ulp_lines_add(lines, "loss: %s\n", t->loss.kind->name);
    ulp_lines_add_data(lines, t->data);
    return status;
}

static const ulp_arena *trainer_arena(const void *run, size_t i) {
    return i == 0 ? &((const ulp_trainer *)run)->arena : NULL;
}

static const ulp_saved_kind trainer_kind = {describe_trainer, ulp_learner_visit, trainer_arena};

ulp_status ulp_checkpoint_save(const ulp_trainer *t, const char *path, const void *note, size_t note_bytes,
                               ulp_error *error) {
    return ulp_saved_write(&trainer_kind, t, path, note, note_bytes, error);
}

ulp_status ulp_checkpoint_load(ulp_trainer *t, const char *path, void **note, size_t *note_bytes, ulp_error *error) {
    ULP_TRY(ulp_saved_read(&trainer_kind, t, t->step, path, note, note_bytes, error));
    ulp_tail_resume(t);
    t->epoch = 0; /* the next step makes the epoch's order again from the seed */
    return ULP_OK;
}
