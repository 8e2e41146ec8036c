/* checkpoint.c - saving and loading a training run; see checkpoint.h.
 *
 * A file has these parts: lines of text that describe the run, an empty line, the bytes of the state, the caller's
 * note, and the CRC-32 of all these parts.
 */
#include "checkpoint.h"

#include <errno.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fail.h"
#include "kernels/checksum.h"

enum { VERSION = 3, PIECE = 1 << 16, HEAD_MAX = 1 << 18 };

/* ---- the state of a run ---- */

/* Handles one piece of state; the result 0 ends the visit. */
typedef int (*visitor)(void *context, void *at, size_t bytes);

/* Every field is visited by itself, because the padding between fields has no defined value. */
#define VISIT(field) visit(context, &(field), sizeof(field))

static int visit_scaler(ulp_scaler *s, visitor visit, void *context) {
    return VISIT(s->log2) && VISIT(s->good) && VISIT(s->patience) && VISIT(s->overflows) && VISIT(s->skipped) &&
           VISIT(s->grown) && VISIT(s->backed) && VISIT(s->averages);
}

/* A rule may change between steps, but its kind stays. */
static int visit_rule(ulp_optimizer_rule *r, visitor visit, void *context) {
    return VISIT(r->rate) && VISIT(r->momentum) && VISIT(r->decay) && VISIT(r->beta1) && VISIT(r->beta2) &&
           VISIT(r->eps) && VISIT(r->factor) && VISIT(r->warmup) && VISIT(r->cosine) && VISIT(r->every) &&
           VISIT(r->kahan);
}

/* Visit every piece of state outside of the trainer's arena. */
static int visit_state(const ulp_trainer *trainer, visitor visit, void *context) {
    ulp_trainer *t = (ulp_trainer *)trainer; /* saving reads the fields, loading writes them */
    int good = visit(context, &t->step, sizeof t->step) && visit_scaler(&t->scaler, visit, context);
    for (size_t i = 0; i < t->loss_scales.count && good; i++)
        good = visit_scaler(&t->loss_scales.layer[i], visit, context);
    const ulp_amax_history *h = &t->pass.history;
    return good && visit_rule(&t->optimizer.rule, visit, context) &&
           visit(context, &t->optimizer.updates, sizeof t->optimizer.updates) &&
           visit(context, h->amax, ULP_AT_COUNT * h->tensors * (h->steps + 1) * sizeof *h->amax);
}

static int add_size(void *context, void *at, size_t bytes) {
    (void)at;
    *(size_t *)context += bytes;
    return 1;
}

/* The number of bytes between the lines of text and the note. */
static size_t state_bytes(const ulp_trainer *t) {
    size_t n = t->arena.bytes;
    visit_state(t, add_size, &n);
    return n;
}

/* ---- the description of a run ---- */

typedef struct head {
    char *text; /* (HEAD_MAX) */
    size_t used;
} head;

#if defined(__GNUC__)
__attribute__((format(printf, 2, 3)))
#endif
static void
add(head *h, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    if (h->used < HEAD_MAX) h->used += (size_t)vsnprintf(h->text + h->used, HEAD_MAX - h->used, format, arguments);
    va_end(arguments);
}

static void add_net(head *h, const ulp_net *net) {
    add(h, "net:");
    for (size_t i = 0; i < net->count; i++) add(h, " %s", net->layers[i].word);
    add(h, "\ninput: %zu %zu %zu\n", net->in.c, net->in.h, net->in.w);
}

/* The optimizer and the scaler as the options gave them. */
static void add_rules(head *h, const ulp_trainer *t) {
    const ulp_optimizer_rule *o = &t->start_rule;
    const ulp_scaler_rule *s = &t->scaler.rule;
    add(h,
        "optimizer: %s, rate %.17g, momentum %.17g, decay %.17g, beta1 %.17g, beta2 %.17g, eps %.17g, warmup %u, "
        "cosine %u, drop %.17g/%u, kahan %d\n",
        o->kind->name, o->rate, o->momentum, o->decay, o->beta1, o->beta2, o->eps, (unsigned)o->warmup,
        (unsigned)o->cosine, o->factor, (unsigned)o->every, o->kahan);
    add(h,
        "scaler: %s, init %d, min %d, max %d, interval %u, hysteresis %u, skip %d, log_max %.17g, overflow_std_dev "
        "%.17g, beta1 %.17g, beta2 %.17g\n",
        s->name, s->init, s->min, s->max, (unsigned)s->interval, (unsigned)s->hysteresis, s->skip, s->log_max,
        s->overflow_std_dev, s->beta1, s->beta2);
}

/* The order of the bytes of a number: "little" or "big". */
static const char *byte_order(void) {
    const uint16_t one = 1;
    return *(const unsigned char *)&one ? "little" : "big";
}

/* Write the lines that describe the run to h->text; free() the text. ULP_NO_MEMORY. */
static ulp_status describe(head *h, const ulp_trainer *t, size_t note_bytes) {
    char policy[ULP_POLICY_TEXT_MAX], reduction[ULP_REDUCTION_TEXT_MAX] = "none";
    *h = (head){malloc(HEAD_MAX), 0};
    if (!h->text) return ULP_NO_MEMORY;
    ulp_status status = ulp_policy_print(policy, sizeof policy, &t->policy);
    if (status == ULP_OK && t->ranks > 1) status = ulp_reduction_print(reduction, sizeof reduction, &t->reduction);
    add(h, "ulplab checkpoint %d, %s endian\n", VERSION, byte_order());
    add_net(h, &t->model.net);
    add(h, "policy: %s\n", policy);
    add_rules(h, t);
    add(h, "seed: %llu\n", (unsigned long long)t->pass.run.seed);
    add(h, "batch: %zu\n", t->batch);
    add(h, "ranks: %zu, reduction %s\n", t->ranks, reduction);
    add(h, "loss: %s\n", t->loss.kind->name);
    add(h, "data: %s, crc32 %08x, %zu for training of %zu\n", t->data->name, (unsigned)t->data->checksum,
        t->data->n_train, t->data->n);
    add(h, "state: %zu\nnote: %zu\n\n", state_bytes(t), note_bytes);
    if (status == ULP_OK && h->used < HEAD_MAX) return ULP_OK;
    free(h->text);
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

static int put_arena(writer *w, const ulp_trainer *t) {
    unsigned char *piece = malloc(PIECE);
    int good = piece != NULL;
    for (size_t at = 0; at < t->arena.bytes && good; at += PIECE) {
        size_t n = t->arena.bytes - at < PIECE ? t->arena.bytes - at : PIECE;
        good = t->pass.run.backend->download(piece, t->arena.memory + at, n) == ULP_OK && put(w, piece, n);
    }
    free(piece);
    return good;
}

static int put_state(void *context, void *at, size_t bytes) { return put(context, at, bytes); }

static int put_all(writer *w, const ulp_trainer *t, const head *h, const void *note, size_t note_bytes) {
    int good = put(w, h->text, h->used) && put_arena(w, t) && visit_state(t, put_state, w);
    if (good && note_bytes) good = put(w, note, note_bytes);
    unsigned char crc[4] = {(unsigned char)(w->crc >> 24), (unsigned char)(w->crc >> 16), (unsigned char)(w->crc >> 8),
                            (unsigned char)w->crc};
    return good && fwrite(crc, 1, sizeof crc, w->file) == sizeof crc;
}

ulp_status ulp_checkpoint_save(const ulp_trainer *t, const char *path, const void *note, size_t note_bytes, char *error,
                               size_t error_size) {
    head h;
    ulp_status status = describe(&h, t, note_bytes);
    size_t length = strlen(path) + sizeof ".tmp";
    char *name = malloc(length);
    if (status != ULP_OK || !name) {
        if (status == ULP_OK) free(h.text);
        free(name);
        return ulp_fail(error, error_size, status == ULP_OK ? ULP_NO_MEMORY : status, "%s: no memory for a checkpoint",
                        path);
    }
    snprintf(name, length, "%s.tmp", path);
    writer w = {fopen(name, "wb"), 0};
    int good = w.file && put_all(&w, t, &h, note, note_bytes);
    good = good && fflush(w.file) == 0 && fsync(fileno(w.file)) == 0;
    if (w.file && fclose(w.file) != 0) good = 0;
    if (good && rename(name, path) != 0) good = 0;
    if (!good) {
        status = ulp_fail(error, error_size, ULP_BAD_FILE, "%s: cannot be written: %s", path, strerror(errno));
        if (w.file) remove(name);
    }
    free(h.text);
    free(name);
    return status;
}

/* ---- loading ---- */

/* Compare the lines of a file with the lines of this run. The size of the note may differ and goes to *note_bytes. Both
 * texts end with an empty line. */
static ulp_status compare(const char *file_lines, const char *run_lines, size_t *note_bytes, const char *path,
                          char *error, size_t error_size) {
    for (;;) {
        size_t a = strcspn(file_lines, "\n"), b = strcspn(run_lines, "\n");
        if (strncmp(run_lines, "note: ", 6) == 0 && sscanf(file_lines, "note: %zu", note_bytes) == 1) return ULP_OK;
        if (a != b || memcmp(file_lines, run_lines, a) != 0)
            return ulp_fail(error, error_size, ULP_BAD_ARGUMENT, "%s is of another run: there '%.*s', here '%.*s'",
                            path, (int)(a < 400 ? a : 400), file_lines, (int)(b < 400 ? b : 400), run_lines);
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

/* Copy the arena, the rest of the state and the note from the bytes after the lines. */
static ulp_status restore(ulp_trainer *t, const unsigned char *bytes, void **note, size_t note_bytes) {
    *note = malloc(note_bytes + 1);
    ulp_status status = *note ? t->pass.run.backend->upload(t->arena.memory, bytes, t->arena.bytes) : ULP_NO_MEMORY;
    if (status != ULP_OK) {
        free(*note);
        *note = NULL;
        return status;
    }
    bytes += t->arena.bytes;
    visit_state(t, take_state, &bytes);
    memcpy(*note, bytes, note_bytes);
    ((char *)*note)[note_bytes] = 0;
    t->epoch = 0; /* the next step makes the epoch's order again from the seed */
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

static ulp_status take(ulp_trainer *t, const content *file, void **note, size_t *note_bytes, char *error,
                       size_t error_size) {
    const unsigned char *bytes = file->bytes;
    const size_t n = file->n;
    const char *path = file->path;
    head run_lines;
    const char *file_lines = (const char *)bytes,
               *end = n > 4 ? strstr(file_lines, "\n\n") : NULL; /* ulp_file_read() ends the bytes with a zero */
    if (!end || strncmp(file_lines, "ulplab checkpoint ", 18) != 0)
        return ulp_fail(error, error_size, ULP_BAD_FILE, "%s: not a checkpoint", path);
    if (crc_at(bytes + n - 4) != ulp_crc32(0, bytes, n - 4))
        return ulp_fail(error, error_size, ULP_BAD_FILE, "%s: damaged or truncated", path);
    ulp_status status = describe(&run_lines, t, 0);
    if (status != ULP_OK) return ulp_fail(error, error_size, status, "%s: %s", path, ulp_status_text(status));
    status = compare(file_lines, run_lines.text, note_bytes, path, error, error_size);
    free(run_lines.text);
    if (status != ULP_OK) return status;
    size_t before = (size_t)(end + 2 - file_lines);
    if (n - 4 != before + state_bytes(t) + *note_bytes)
        return ulp_fail(error, error_size, ULP_BAD_FILE, "%s: damaged or truncated", path);
    status = restore(t, bytes + before, note, *note_bytes);
    return status == ULP_OK ? ULP_OK : ulp_fail(error, error_size, status, "%s: %s", path, ulp_status_text(status));
}

ulp_status ulp_checkpoint_load(ulp_trainer *t, const char *path, void **note, size_t *note_bytes, char *error,
                               size_t error_size) {
    content file = {.path = path};
    *note = NULL;
    *note_bytes = 0;
    if (t->step) return ulp_fail(error, error_size, ULP_BAD_ARGUMENT, "%s: the run has begun already", path);
    ulp_status status = ulp_file_read(&file.bytes, &file.n, path, SIZE_MAX / 4, error, error_size);
    if (status != ULP_OK) return status;
    status = take(t, &file, note, note_bytes, error, error_size);
    free(file.bytes);
    return status;
}
