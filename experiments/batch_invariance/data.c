/* data.c - what the parts of batch_invariance share: empty rows, and arrays of random numbers. */
#include "batch_invariance.h"
#include "sim/normal.h"

row row_of(const ulp_task *task, int kind) {
    row r;
    ulp_row_clear(task->rows, &r);
    r.kind = kind;
    return r;
}

ulp_status fill_normal(const ulp_task *task, float *x, float *room, size_t n, const char *name, double scale) {
    const settings *s = task->settings;
    const ulp_stream stream = ulp_stream_named(s->seed, "batch_invariance %s", name);
    ulp_format bf16;
    ULP_TRY(ulp_format_parse(&bf16, "bfloat16"));
    for (size_t i = 0; i < n; i++)
        room[i] = (float)ulp_round(ulp_random_normal(stream, i) * scale, &bf16, (ulp_rule){0}, 0);
    return s->backend->upload(x, room, n * sizeof *x);
}
