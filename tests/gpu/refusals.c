/* refusals.c - refused arguments: both backends return the same status and write nothing. */

#include "refusals.h"

static void *filled(both *w, const ulp_backend *b, const void *with, size_t bytes) {
    void *at = b->alloc(bytes);
    if (row_ok(&w->r, at != NULL ? ULP_OK : ULP_NO_MEMORY, "alloc"))
        row_ok(&w->r, b->upload(at, with, bytes), "upload");
    return at;
}

static const float mark = 0x1.234568p-3f;

static int opened(both *w, const check *c, const char *name) {
    *w = (both){.r = row_of(name), .sides = {{.b = c->cpu}, {.b = c->gpu}}, .lacks = -1};
    if (w->r.skipped) return 0;
    row_ok(&w->r, ulp_format_parse(&w->fp16, "binary16"), "binary16");
    row_ok(&w->r, ulp_format_parse(&w->wide, "binary64"), "binary64");
    row_ok(&w->r, ulp_format_parse(&w->fixed, "q8.8"), "q8.8");
    row_ok(&w->r, ulp_datapath_parse(&w->sum, "serial:fp16:rne"), "serial:fp16:rne");
    row_ok(&w->r, ulp_datapath_parse(&w->wide_sum, "serial:fp64:rne"), "serial:fp64:rne");
    const float zeros[ROOM] = {0};
    const double zeros64[ROOM] = {0};
    float marks[ROOM];
    double marks64[ROOM];
    for (size_t i = 0; i < ROOM; i++) marks64[i] = (double)(marks[i] = mark);
    for (side *s = w->sides; s < w->sides + 2; s++) {
        s->x = filled(w, s->b, zeros, sizeof zeros), s->y = filled(w, s->b, marks, sizeof marks);
        s->x64 = filled(w, s->b, zeros64, sizeof zeros64), s->y64 = filled(w, s->b, marks64, sizeof marks64);
    }
    return !w->r.stopped;
}

void refusals_answered(both *w, const side *on, ulp_status got, ulp_status right, const char *call) {
    row_true(&w->r, got == right, "%s: %s (lacks %d): %s, should be: %s", on->b->name, call, w->lacks,
             ulp_status_text(got), ulp_status_text(right));
}

/* Check that no call has written an array y. */
static void check_untouched(both *w) {
    float got[ROOM], want[ROOM];
    double got64[ROOM], want64[ROOM];
    for (size_t i = 0; i < ROOM; i++) want64[i] = (double)(want[i] = mark);
    for (const side *s = w->sides; s < w->sides + 2; s++) {
        if (row_ok(&w->r, s->b->download(got, s->y, sizeof got), "download"))
            row_floats(&w->r, got, want, ROOM, "%s: a refused call wrote the array", s->b->name);
        if (row_ok(&w->r, s->b->download(got64, s->y64, sizeof got64), "download"))
            row_doubles(&w->r, got64, want64, ROOM, "%s: a refused call wrote the array", s->b->name);
    }
}

static void close_row(both *w) {
    for (const side *s = w->sides; s < w->sides + 2; s++) {
        s->b->release(s->x), s->b->release(s->y);
        s->b->release(s->x64), s->b->release(s->y64);
    }
    row_end(&w->r);
}

void refusals_run(const check *c, const refusal *rows, size_t n) {
    for (const refusal *tried = rows; tried < rows + n; tried++) {
        char name[80];
        both w;
        snprintf(name, sizeof name, "refused: %s", tried->name);
        for (int open = opened(&w, c, name); open && w.good < 2 && !w.r.skipped; w.good++) {
            tried->calls(&w);
            if (!w.good && !w.r.skipped) check_untouched(&w);
        }
        close_row(&w);
    }
}

/* ---- elements ---- */

static void refuse_round(both *w) {
    ulp_stats stats = {0};
    TRIED(2, ulp_backend_round(b, A(0, y), A(1, x), N(ROOM), COUNTED(&w->fp16, rne)));
    EXPECT(ULP_BAD_ARGUMENT, ulp_backend_round(b, y, x, ROOM, COUNTED(NULL, rne)));
    EXPECT(ULP_UNSUPPORTED, ulp_backend_round(b, y, x, ROOM, COUNTED(&w->wide, rne)));
    EXPECT(ULP_BAD_ARGUMENT, ulp_backend_round(b, NULL, x, ROOM, COUNTED(&w->wide, rne)));
    for (size_t i = 0; i < RULES; i++) {
        EXPECT(rules[i].right, ulp_backend_round(b, y, x, ROOM, COUNTED(&w->fp16, rules[i].rule)));
        EXPECT(rules[i].right, ulp_backend_round(b, y, x, ROOM, COUNTED(&w->wide, rules[i].rule)));
        EXPECT(rules[i].right, ulp_backend_round(b, NULL, NULL, 0, COUNTED(&w->fp16, rules[i].rule)));
    }
    EXPECT(ULP_BAD_ARGUMENT, ulp_backend_round(b, NULL, NULL, 0, COUNTED(NULL, rne)));
    EXPECT(ULP_UNSUPPORTED, ulp_backend_round(b, NULL, NULL, 0, COUNTED(&w->wide, rne)));
    GOOD(
        ulp_backend_round(b, y, x, ROOM, (ulp_rounding){&w->fixed, (ulp_rule){0, ULP_OVERFLOW_WRAP, 0}, none, &stats}));
    row_true(&w->r, stats.count == (w->good ? 4 * ROOM : 0), "%llu elements were counted",
             (unsigned long long)stats.count);
}

static void refuse_round64(both *w) {
    TRIED(2, ulp_backend_round64(b, A(0, y64), A(1, x64), N(ROOM), TO(&w->wide, rne)));
    EXPECT(ULP_BAD_ARGUMENT, ulp_backend_round64(b, y64, x64, ROOM, TO(NULL, rne)));
    for (size_t i = 0; i < RULES; i++) {
        EXPECT(rules[i].right, ulp_backend_round64(b, y64, x64, ROOM, TO(&w->wide, rules[i].rule)));
        EXPECT(rules[i].right, ulp_backend_round64(b, NULL, NULL, 0, TO(&w->wide, rules[i].rule)));
    }
    EXPECT(ULP_BAD_ARGUMENT, ulp_backend_round64(b, NULL, NULL, 0, TO(NULL, rne)));
}

static void refuse_map(both *w) {
    EXPECT(ULP_BAD_ARGUMENT, ulp_backend_map(b, y, (ulp_array_op){ULP_OP_COUNT, x, x, x}, ROOM, TO(&w->fp16, rne)));
    EXPECT(ULP_BAD_ARGUMENT,
           ulp_backend_map(b, NULL, (ulp_array_op){ULP_OP_COUNT, NULL, NULL, NULL}, 0, TO(&w->fp16, rne)));
    for (int i = 0; i < ULP_OP_COUNT; i++) {
        const ulp_op op = (ulp_op)i;
        const ulp_status two =
            ulp_op_operands(op) > 1 ? ULP_BAD_ARGUMENT : ULP_UNSUPPORTED; /* the wrong format is found later */
        const ulp_status three = ulp_op_operands(op) > 2 ? ULP_BAD_ARGUMENT : ULP_UNSUPPORTED;
        EXPECT(ULP_BAD_ARGUMENT, ulp_backend_map(b, NULL, (ulp_array_op){op, x, x, x}, ROOM, TO(&w->wide, rne)));
        EXPECT(ULP_BAD_ARGUMENT, ulp_backend_map(b, y, (ulp_array_op){op, NULL, x, x}, ROOM, TO(&w->wide, rne)));
        EXPECT(two, ulp_backend_map(b, y, (ulp_array_op){op, x, NULL, x}, ROOM, TO(&w->wide, rne)));
        EXPECT(three, ulp_backend_map(b, y, (ulp_array_op){op, x, x, NULL}, ROOM, TO(&w->wide, rne)));
        EXPECT(ULP_BAD_ARGUMENT, ulp_backend_map(b, y, (ulp_array_op){op, x, x, x}, ROOM, TO(NULL, rne)));
        EXPECT(ULP_UNSUPPORTED, ulp_backend_map(b, y, (ulp_array_op){op, x, x, x}, ROOM, TO(&w->wide, rne)));
        EXPECT(ULP_OK, ulp_backend_map(b, NULL, (ulp_array_op){op, NULL, NULL, NULL}, 0, TO(&w->fp16, rne)));
        for (size_t k = 0; k < RULES; k++) {
            EXPECT(rules[k].right,
                   ulp_backend_map(b, y, (ulp_array_op){op, x, x, x}, ROOM, TO(&w->fp16, rules[k].rule)));
            EXPECT(rules[k].right,
                   ulp_backend_map(b, NULL, (ulp_array_op){op, NULL, NULL, NULL}, 0, TO(&w->fp16, rules[k].rule)));
        }
    }
    GOOD(ulp_backend_map(b, y, (ulp_array_op){ULP_FUSED, x, x, x}, ROOM, TO(&w->fp16, rne)));
    GOOD(ulp_backend_map(b, y, (ulp_array_op){ULP_SQRT, x, NULL, NULL}, ROOM, TO(&w->fp16, rne)));
}

static void refuse_largest(both *w) {
    float most = mark;
    EXPECT(ULP_BAD_ARGUMENT, ulp_backend_largest(b, NULL, x, ROOM, 0));
    EXPECT(ULP_BAD_ARGUMENT, ulp_backend_largest(b, &most, NULL, ROOM, 0));
    EXPECT(ULP_BAD_ARGUMENT, ulp_backend_largest(b, NULL, NULL, 0, 1));
    row_floats(&w->r, &most, &mark, 1, "a refused call wrote the result");
    GOOD(ulp_backend_largest(b, &most, NULL, 0, 1));
    GOOD(ulp_backend_largest(b, &most, x, ROOM, 0));
}

static void refuse_squares(both *w) {
    EXPECT(ULP_BAD_ARGUMENT, ulp_backend_squares(b, NULL, x, ROOM));
    EXPECT(ULP_BAD_ARGUMENT, ulp_backend_squares(b, y64, NULL, ROOM));
    GOOD(ulp_backend_squares(b, NULL, NULL, 0));
}

/* ---- steps ---- */

static ulp_operand in_array(float *at) { return (ulp_operand){.kind = ULP_OPERAND_ARRAY, .at = at}; }
static ulp_operand in_scratch(uint8_t slot) { return (ulp_operand){.kind = ULP_OPERAND_SCRATCH, .slot = slot}; }

static ulp_update_step fused_step(const both *w, const side *on) {
    return (ulp_update_step){.op = ULP_FUSED,
                             .y = in_array(on->y),
                             .a = in_array(on->x),
                             .b = in_array(on->x),
                             .c = in_array(on->x),
                             .format = w->fp16};
}

/* A good step with one change. It is tried alone, after a good step, and without elements. */
#define STEP(right, change)                                                                                            \
    for (const side *on = w->sides; on < w->sides + 2; on++) {                                                         \
        ulp_update_step s = fused_step(w, on);                                                                         \
        change;                                                                                                        \
        const ulp_update_step two[2] = {fused_step(w, on), s};                                                         \
        refusals_answered(w, on, ulp_backend_update(on->b, &s, 1, ROOM), right, #change);                              \
        refusals_answered(w, on, ulp_backend_update(on->b, two, 2, ROOM), right, #change ", second step");             \
        refusals_answered(w, on, ulp_backend_update(on->b, two, 2, 0), right, #change ", no elements");                \
    }

static void refused_steps(both *w) {
    const ulp_operand lacking[] = {{.kind = ULP_OPERAND_NONE},
                                   {.kind = ULP_OPERAND_ARRAY},
                                   {.kind = ULP_OPERAND_SCRATCH + 1},
                                   {.kind = ULP_OPERAND_SCRATCH, .slot = ULP_UPDATE_SCRATCH}};
    for (size_t i = 0; i < sizeof lacking / sizeof lacking[0]; i++) {
        STEP(ULP_BAD_ARGUMENT, s.y = lacking[i]);
        STEP(ULP_BAD_ARGUMENT, s.a = lacking[i]);
        STEP(ULP_BAD_ARGUMENT, s.b = lacking[i]);
        STEP(ULP_BAD_ARGUMENT, s.c = lacking[i]);
        STEP(ULP_BAD_ARGUMENT, (s.op = ULP_STEP_ROUND, s.a = lacking[i]));
        STEP(ULP_BAD_ARGUMENT, (s.op = ULP_SUB, s.b = lacking[i]));
        STEP(ULP_BAD_ARGUMENT, (s.op = ULP_STEP_LIMIT, s.b = lacking[i]));
    }
    STEP(ULP_BAD_ARGUMENT, s.y.kind = ULP_OPERAND_VALUE);
    STEP(ULP_BAD_ARGUMENT, s.op = ULP_STEP_LIMIT + 1);
    STEP(ULP_BAD_ARGUMENT, s.op = 255);
    STEP(ULP_UNSUPPORTED, s.format = w->wide);
    STEP(ULP_BAD_ARGUMENT, (s.format = w->wide, s.a = lacking[0]));
    for (size_t i = 0; i < RULES; i++) {
        STEP(rules[i].right, s.rule = rules[i].rule);
        STEP(rules[i].right, (s.op = ULP_STEP_ROUND, s.rule = rules[i].rule));
    }
}

static void refuse_update(both *w) {
    if (w->good) {
        STEP(ULP_OK, (s.op = ULP_STEP_ROUND, s.b.kind = s.c.kind = ULP_OPERAND_NONE));
        STEP(ULP_OK, (s.op = ULP_MUL, s.c.kind = 255));
        STEP(ULP_OK, (s.op = ULP_STEP_LIMIT, s.c.kind = 255));
        STEP(ULP_OK, (s.a.kind = ULP_OPERAND_VALUE, s.y = in_scratch(ULP_UPDATE_SCRATCH - 1)));
        return;
    }
    refused_steps(w);
    EXPECT(ULP_BAD_ARGUMENT, ulp_backend_update(b, NULL, 1, ROOM));
    EXPECT(ULP_BAD_ARGUMENT, ulp_backend_update(b, NULL, 1, 0));
    EXPECT(ULP_OK, ulp_backend_update(b, NULL, 0, ROOM));
    for (const side *on = w->sides; on < w->sides + 2; on++) { /* the first wrong step determines the status */
        ulp_update_step two[2] = {fused_step(w, on), fused_step(w, on)};
        two[0].format = w->wide;
        two[1].op = 255;
        refusals_answered(w, on, ulp_backend_update(on->b, two, 2, ROOM), ULP_UNSUPPORTED,
                          "binary64, then no operation");
        two[0] = fused_step(w, on);
        refusals_answered(w, on, ulp_backend_update(on->b, two, 1, 0), ULP_OK, "no elements");
    }
}

/* ---- moves ---- */

static void refuse_moves(both *w) {
    const ulp_im2col one = {.B = 1, .c = 1, .h = 2, .w = 2, .kernel = 1, .oh = 2, .ow = 2, .stride = 1, .dilate = 1};
    ulp_im2col p = one;
    size_t *const sizes[] = {&p.B, &p.c, &p.kernel, &p.oh, &p.ow};
    EXPECT(ULP_BAD_ARGUMENT, ulp_backend_im2col(b, y, x, NULL));
    WITHOUT_EACH(2, ulp_backend_im2col(b, A(0, y), A(1, x), &one));
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        *sizes[i] = 0;
        EXPECT(ULP_OK, ulp_backend_im2col(b, NULL, NULL, &p));
        p.stride = 0;
        EXPECT(ULP_BAD_ARGUMENT, ulp_backend_im2col(b, NULL, NULL, &p));
        p = one;
    }
    p.stride = 0;
    EXPECT(ULP_BAD_ARGUMENT, ulp_backend_im2col(b, y, x, &p));
    p = one, p.dilate = 0;
    EXPECT(ULP_BAD_ARGUMENT, ulp_backend_im2col(b, y, x, &p));
    WITHOUT_EACH(2, ulp_backend_permute(b, A(0, y), A(1, x), (ulp_permute_shape){1, 2, 3, 4}));
    EXPECT(ULP_BAD_ARGUMENT, ulp_backend_permute(b, y, NULL, (ulp_permute_shape){1, 2, 3, 1}));
    for (size_t i = 0; i < 4; i++)
        EXPECT(ULP_OK, ulp_backend_permute(b, NULL, NULL, (ulp_permute_shape){i != 0, i != 1, i != 2, i != 3}));
}

void check_refused(const check *c) {
    static const refusal rows[] = {{"round", refuse_round},     {"round64", refuse_round64}, {"map", refuse_map},
                                   {"largest", refuse_largest}, {"squares", refuse_squares}, {"update", refuse_update}};
    static const refusal moves[] = {{"patches and permute", refuse_moves}};
    refusals_run(c, rows, sizeof rows / sizeof rows[0]);
    check_refused_products(c);
    refusals_run(c, moves, 1);
    check_refused_between(c);
}
