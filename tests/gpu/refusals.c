/* refusals.c - refused arguments: both backends return the same status and write nothing. */
#include "refusals.h"

static void *filled(both *w, const ulp_backend *b, const void *with, size_t bytes) {
    void *at = b->alloc(bytes);
    if (row_ok(&w->r, at != NULL ? ULP_OK : ULP_NO_MEMORY, "alloc"))
        row_ok(&w->r, b->upload(at, with, bytes), "upload");
    return at;
}

static const float mark = 0x1.234568p-3f;

int refusals_open(both *w, const check *c, const char *name) {
    *w = (both){.r = row_of(name), .sides = {{.b = c->cpu}, {.b = c->gpu}}};
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
    row_true(&w->r, got == right, "%s: %s: %s, should be: %s", on->b->name, call, ulp_status_text(got),
             ulp_status_text(right));
}

void refusals_untouched(both *w) {
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

void refusals_close(both *w) {
    for (const side *s = w->sides; s < w->sides + 2; s++) {
        s->b->release(s->x), s->b->release(s->y);
        s->b->release(s->x64), s->b->release(s->y64);
    }
    row_end(&w->r);
}

/* ---- elements: refused calls, calls without elements, then the call without a wrong argument ---- */

static void check_round(const check *c) {
    both pair, *w = &pair;
    ulp_stats stats = {0};
    if (refusals_open(w, c, "refused: round")) {
        EXPECT(ULP_BAD_ARGUMENT,
               ulp_backend_round(on->b, NULL, on->x, ROOM, (ulp_rounding){&w->fp16, rne, none, &stats}));
        EXPECT(ULP_BAD_ARGUMENT,
               ulp_backend_round(on->b, on->y, NULL, ROOM, (ulp_rounding){&w->fp16, rne, none, &stats}));
        EXPECT(ULP_BAD_ARGUMENT, ulp_backend_round(on->b, on->y, on->x, ROOM, (ulp_rounding){NULL, rne, none, &stats}));
        EXPECT(ULP_UNSUPPORTED,
               ulp_backend_round(on->b, on->y, on->x, ROOM, (ulp_rounding){&w->wide, rne, none, &stats}));
        EXPECT(ULP_BAD_ARGUMENT,
               ulp_backend_round(on->b, NULL, on->x, ROOM, (ulp_rounding){&w->wide, rne, none, &stats}));
        for (size_t i = 0; i < RULES; i++) {
            EXPECT(rules[i].right,
                   ulp_backend_round(on->b, on->y, on->x, ROOM, (ulp_rounding){&w->fp16, rules[i].rule, none, &stats}));
            EXPECT(rules[i].right,
                   ulp_backend_round(on->b, on->y, on->x, ROOM, (ulp_rounding){&w->wide, rules[i].rule, none, &stats}));
            EXPECT(rules[i].right,
                   ulp_backend_round(on->b, NULL, NULL, 0, (ulp_rounding){&w->fp16, rules[i].rule, none, &stats}));
        }
        EXPECT(ULP_BAD_ARGUMENT, ulp_backend_round(on->b, NULL, NULL, 0, (ulp_rounding){NULL, rne, none, &stats}));
        EXPECT(ULP_UNSUPPORTED, ulp_backend_round(on->b, NULL, NULL, 0, (ulp_rounding){&w->wide, rne, none, &stats}));
        EXPECT(ULP_OK, ulp_backend_round(on->b, NULL, NULL, 0, (ulp_rounding){&w->fp16, rne, none, &stats}));
        refusals_untouched(w);
        row_true(&w->r, stats.count == 0, "%llu elements were counted", (unsigned long long)stats.count);
        EXPECT(ULP_OK, ulp_backend_round(on->b, on->y, on->x, ROOM, (ulp_rounding){&w->fp16, rne, none, &stats}));
        EXPECT(ULP_OK, ulp_backend_round(on->b, on->y, on->x, ROOM,
                                         (ulp_rounding){&w->fixed, (ulp_rule){0, ULP_OVERFLOW_WRAP, 0}, none, &stats}));
        row_true(&w->r, stats.count == 4 * ROOM, "%llu elements were counted", (unsigned long long)stats.count);
    }
    refusals_close(w);
}

static void check_round64(const check *c) {
    both pair, *w = &pair;
    if (refusals_open(w, c, "refused: round64")) {
        EXPECT(ULP_BAD_ARGUMENT,
               ulp_backend_round64(on->b, NULL, on->x64, ROOM, (ulp_rounding){&w->wide, rne, none, NULL}));
        EXPECT(ULP_BAD_ARGUMENT,
               ulp_backend_round64(on->b, on->y64, NULL, ROOM, (ulp_rounding){&w->wide, rne, none, NULL}));
        EXPECT(ULP_BAD_ARGUMENT,
               ulp_backend_round64(on->b, on->y64, on->x64, ROOM, (ulp_rounding){NULL, rne, none, NULL}));
        for (size_t i = 0; i < RULES; i++) {
            EXPECT(rules[i].right, ulp_backend_round64(on->b, on->y64, on->x64, ROOM,
                                                       (ulp_rounding){&w->wide, rules[i].rule, none, NULL}));
            EXPECT(rules[i].right,
                   ulp_backend_round64(on->b, NULL, NULL, 0, (ulp_rounding){&w->wide, rules[i].rule, none, NULL}));
        }
        EXPECT(ULP_BAD_ARGUMENT, ulp_backend_round64(on->b, NULL, NULL, 0, (ulp_rounding){NULL, rne, none, NULL}));
        EXPECT(ULP_OK, ulp_backend_round64(on->b, NULL, NULL, 0, (ulp_rounding){&w->wide, rne, none, NULL}));
        refusals_untouched(w);
        EXPECT(ULP_OK, ulp_backend_round64(on->b, on->y64, on->x64, ROOM, (ulp_rounding){&w->wide, rne, none, NULL}));
    }
    refusals_close(w);
}

static void check_map(const check *c) {
    both pair, *w = &pair;
    if (refusals_open(w, c, "refused: map")) {
        EXPECT(ULP_BAD_ARGUMENT, ulp_backend_map(on->b, on->y, (ulp_array_op){ULP_OP_COUNT, on->x, on->x, on->x}, ROOM,
                                                 (ulp_rounding){&w->fp16, rne, none, NULL}));
        EXPECT(ULP_BAD_ARGUMENT, ulp_backend_map(on->b, NULL, (ulp_array_op){ULP_OP_COUNT, NULL, NULL, NULL}, 0,
                                                 (ulp_rounding){&w->fp16, rne, none, NULL}));
        for (int i = 0; i < ULP_OP_COUNT; i++) {
            const ulp_op op = (ulp_op)i;
            const ulp_status two =
                ulp_op_operands(op) > 1 ? ULP_BAD_ARGUMENT : ULP_UNSUPPORTED; /* the wrong format is found later */
            const ulp_status three = ulp_op_operands(op) > 2 ? ULP_BAD_ARGUMENT : ULP_UNSUPPORTED;
            EXPECT(ULP_BAD_ARGUMENT, ulp_backend_map(on->b, NULL, (ulp_array_op){op, on->x, on->x, on->x}, ROOM,
                                                     (ulp_rounding){&w->wide, rne, none, NULL}));
            EXPECT(ULP_BAD_ARGUMENT, ulp_backend_map(on->b, on->y, (ulp_array_op){op, NULL, on->x, on->x}, ROOM,
                                                     (ulp_rounding){&w->wide, rne, none, NULL}));
            EXPECT(two, ulp_backend_map(on->b, on->y, (ulp_array_op){op, on->x, NULL, on->x}, ROOM,
                                        (ulp_rounding){&w->wide, rne, none, NULL}));
            EXPECT(three, ulp_backend_map(on->b, on->y, (ulp_array_op){op, on->x, on->x, NULL}, ROOM,
                                          (ulp_rounding){&w->wide, rne, none, NULL}));
            EXPECT(ULP_BAD_ARGUMENT, ulp_backend_map(on->b, on->y, (ulp_array_op){op, on->x, on->x, on->x}, ROOM,
                                                     (ulp_rounding){NULL, rne, none, NULL}));
            EXPECT(ULP_UNSUPPORTED, ulp_backend_map(on->b, on->y, (ulp_array_op){op, on->x, on->x, on->x}, ROOM,
                                                    (ulp_rounding){&w->wide, rne, none, NULL}));
            EXPECT(ULP_OK, ulp_backend_map(on->b, NULL, (ulp_array_op){op, NULL, NULL, NULL}, 0,
                                           (ulp_rounding){&w->fp16, rne, none, NULL}));
            for (size_t k = 0; k < RULES; k++) {
                EXPECT(rules[k].right, ulp_backend_map(on->b, on->y, (ulp_array_op){op, on->x, on->x, on->x}, ROOM,
                                                       (ulp_rounding){&w->fp16, rules[k].rule, none, NULL}));
                EXPECT(rules[k].right, ulp_backend_map(on->b, NULL, (ulp_array_op){op, NULL, NULL, NULL}, 0,
                                                       (ulp_rounding){&w->fp16, rules[k].rule, none, NULL}));
            }
        }
        refusals_untouched(w);
        EXPECT(ULP_OK, ulp_backend_map(on->b, on->y, (ulp_array_op){ULP_FUSED, on->x, on->x, on->x}, ROOM,
                                       (ulp_rounding){&w->fp16, rne, none, NULL}));
        EXPECT(ULP_OK, ulp_backend_map(on->b, on->y, (ulp_array_op){ULP_SQRT, on->x, NULL, NULL}, ROOM,
                                       (ulp_rounding){&w->fp16, rne, none, NULL}));
    }
    refusals_close(w);
}

static void check_largest(const check *c) {
    both pair, *w = &pair;
    float most = mark;
    if (refusals_open(w, c, "refused: largest")) {
        EXPECT(ULP_BAD_ARGUMENT, ulp_backend_largest(on->b, NULL, on->x, ROOM, 0));
        EXPECT(ULP_BAD_ARGUMENT, ulp_backend_largest(on->b, &most, NULL, ROOM, 0));
        EXPECT(ULP_BAD_ARGUMENT, ulp_backend_largest(on->b, NULL, NULL, 0, 1));
        row_floats(&w->r, &most, &mark, 1, "a refused call wrote the result");
        EXPECT(ULP_OK, ulp_backend_largest(on->b, &most, NULL, 0, 1));
        EXPECT(ULP_OK, ulp_backend_largest(on->b, &most, on->x, ROOM, 0));
    }
    refusals_close(w);
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
    }
    STEP(ULP_BAD_ARGUMENT, s.y.kind = ULP_OPERAND_VALUE);
    STEP(ULP_BAD_ARGUMENT, s.op = ULP_STEP_ROUND + 1);
    STEP(ULP_BAD_ARGUMENT, s.op = 255);
    STEP(ULP_UNSUPPORTED, s.format = w->wide);
    STEP(ULP_BAD_ARGUMENT, (s.format = w->wide, s.a = lacking[0]));
    for (size_t i = 0; i < RULES; i++) {
        STEP(rules[i].right, s.rule = rules[i].rule);
        STEP(rules[i].right, (s.op = ULP_STEP_ROUND, s.rule = rules[i].rule));
    }
}

static void check_update(const check *c) {
    both pair, *w = &pair;
    if (refusals_open(w, c, "refused: update")) {
        refused_steps(w);
        EXPECT(ULP_BAD_ARGUMENT, ulp_backend_update(on->b, NULL, 1, ROOM));
        EXPECT(ULP_BAD_ARGUMENT, ulp_backend_update(on->b, NULL, 1, 0));
        EXPECT(ULP_OK, ulp_backend_update(on->b, NULL, 0, ROOM));
        for (const side *on = w->sides; on < w->sides + 2; on++) { /* the first wrong step determines the status */
            ulp_update_step two[2] = {fused_step(w, on), fused_step(w, on)};
            two[0].format = w->wide;
            two[1].op = 255;
            refusals_answered(w, on, ulp_backend_update(on->b, two, 2, ROOM), ULP_UNSUPPORTED,
                              "binary64, then no operation");
            two[0] = fused_step(w, on);
            refusals_answered(w, on, ulp_backend_update(on->b, two, 1, 0), ULP_OK, "no elements");
        }
        refusals_untouched(w);
        STEP(ULP_OK, (s.op = ULP_STEP_ROUND, s.b.kind = s.c.kind = ULP_OPERAND_NONE));
        STEP(ULP_OK, (s.op = ULP_MUL, s.c.kind = 255));
        STEP(ULP_OK, (s.a.kind = ULP_OPERAND_VALUE, s.y = in_scratch(ULP_UPDATE_SCRATCH - 1)));
    }
    refusals_close(w);
}

/* ---- moves ---- */

static void check_moves_refused(const check *c) {
    both pair, *w = &pair;
    const ulp_im2col one = {.B = 1, .c = 1, .h = 2, .w = 2, .kernel = 1, .oh = 2, .ow = 2, .stride = 1, .dilate = 1};
    ulp_im2col p = one;
    size_t *const sizes[] = {&p.B, &p.c, &p.kernel, &p.oh, &p.ow};
    if (refusals_open(w, c, "refused: patches and permute")) {
        EXPECT(ULP_BAD_ARGUMENT, ulp_backend_im2col(on->b, on->y, on->x, NULL));
        EXPECT(ULP_BAD_ARGUMENT, ulp_backend_im2col(on->b, NULL, on->x, &one));
        EXPECT(ULP_BAD_ARGUMENT, ulp_backend_im2col(on->b, on->y, NULL, &one));
        for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
            *sizes[i] = 0;
            EXPECT(ULP_OK, ulp_backend_im2col(on->b, NULL, NULL, &p));
            p.stride = 0;
            EXPECT(ULP_BAD_ARGUMENT, ulp_backend_im2col(on->b, NULL, NULL, &p));
            p = one;
        }
        p.stride = 0;
        EXPECT(ULP_BAD_ARGUMENT, ulp_backend_im2col(on->b, on->y, on->x, &p));
        p = one, p.dilate = 0;
        EXPECT(ULP_BAD_ARGUMENT, ulp_backend_im2col(on->b, on->y, on->x, &p));
        EXPECT(ULP_BAD_ARGUMENT, ulp_backend_permute(on->b, NULL, on->x, (ulp_permute_shape){1, 2, 3, 4}));
        EXPECT(ULP_BAD_ARGUMENT, ulp_backend_permute(on->b, on->y, NULL, (ulp_permute_shape){1, 2, 3, 4}));
        EXPECT(ULP_BAD_ARGUMENT, ulp_backend_permute(on->b, on->y, NULL, (ulp_permute_shape){1, 2, 3, 1}));
        for (size_t i = 0; i < 4; i++)
            EXPECT(ULP_OK, ulp_backend_permute(on->b, NULL, NULL, (ulp_permute_shape){i != 0, i != 1, i != 2, i != 3}));
        refusals_untouched(w);
        EXPECT(ULP_OK, ulp_backend_im2col(on->b, on->y, on->x, &one));
        EXPECT(ULP_OK, ulp_backend_permute(on->b, on->y, on->x, (ulp_permute_shape){1, 2, 3, 4}));
    }
    refusals_close(w);
}

void check_refused(const check *c) {
    check_round(c);
    check_round64(c);
    check_map(c);
    check_largest(c);
    check_update(c);
    check_refused_products(c);
    check_moves_refused(c);
    check_refused_between(c);
}
