/* checkpoints.c - saving the training of a point, and continuing from the file; see checkpoints.h. */
#include "checkpoints.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/checksum.h"

/* The note of a checkpoint is this head, the caller's state, and the rows so far. */
typedef struct head {
    uint32_t run; /* a checksum of everything that decides the numbers of the point */
    uint32_t state_bytes;
    uint64_t rows, row_bytes;
} head;

/* The checksum of the header of the CSV, which holds every option, and of the label of the point. */
static uint32_t checksum_of(const ulp_task *task) {
    const ulp_text *header = &task->sweep->plan->header;
    const uint32_t crc = ulp_crc32(0, ulp_text_of(header), header->length);
    return ulp_crc32(crc, task->label, strlen(task->label));
}

static void save(ulp_checkpoints *c) {
    const ulp_rows *rows = c->task->rows;
    const head h = {checksum_of(c->task), (uint32_t)c->state_bytes, rows->count, rows->text.length};
    char error[512];
    ulp_text note = {0};
    ulp_text_add(&note, (const char *)&h, sizeof h);
    ulp_text_add(&note, c->state, c->state_bytes);
    ulp_text_add(&note, ulp_text_of(&rows->text), rows->text.length);
    if (c->kind->save(c->run, c->file, note.data, note.length, error, sizeof error) != ULP_OK) {
        ulp_complain(c->task->sweep->program, "%s; going on without checkpoints", error);
        c->file = NULL;
    }
    ulp_text_free(&note);
    c->saved = ulp_clock();
}

/* Takes the state and the rows from the note of a checkpoint. 0 if the checkpoint is of another run. */
static int take_note(ulp_checkpoints *c, const char *note, size_t n) {
    head h;
    if (n < sizeof h + c->state_bytes) return 0;
    memcpy(&h, note, sizeof h);
    if (h.run != checksum_of(c->task) || h.state_bytes != c->state_bytes) return 0;
    if (n != sizeof h + c->state_bytes + h.row_bytes) return 0;
    memcpy(c->state, note + sizeof h, c->state_bytes);
    ulp_text_add(&c->task->rows->text, note + sizeof h + c->state_bytes, h.row_bytes);
    c->task->rows->count = h.rows;
    return 1;
}

static ulp_status resume(ulp_checkpoints *c) {
    const ulp_task *task = c->task;
    char error[1024];
    void *note;
    size_t n;
    if (access(c->file, F_OK) != 0) return ULP_OK;
    if (c->kind->load(c->run, c->file, &note, &n, error, sizeof error) != ULP_OK) {
        ulp_complain(task->sweep->program, "%s; '%s' starts from its beginning", error, task->label);
        return ULP_OK;
    }
    const int is_same_run = take_note(c, note, n);
    free(note);
    if (is_same_run) return ULP_OK;
    ulp_complain(task->sweep->program, "%s is of another run; '%s' starts from its beginning", c->file, task->label);
    return c->kind->restart(c->run);
}

ulp_status ulp_checkpoints_start(ulp_checkpoints *c) {
    c->file = c->seconds > 0 ? c->task->file : NULL;
    c->saved = ulp_clock();
    return c->file && c->task->resumed ? resume(c) : ULP_OK;
}

void ulp_checkpoints_keep(ulp_checkpoints *c, int stop) {
    if (c->file && (stop || ulp_clock() - c->saved >= c->seconds)) save(c);
}
