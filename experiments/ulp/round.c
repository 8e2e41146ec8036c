/* round.c - ulp round: a filter that rounds numbers to a format. */
#include "experiments/ulp/round/group.h"

#include <stdlib.h>

typedef struct settings {
    tool_target target;
    int from; /* round_from */
    int to;   /* round_to */
} settings;

static settings given;

static const ulp_option options[] = {
    {.name = "format",
     .type = &ulp_type_format,
     ULP_AT(settings, target.format),
     .needed = 1,
     .help = "the format to round to; qI.F is fixed point of I + F bits, I counts the sign (ARM writes q8.8 as Q7.8)"},
    ULP_OPTION(
        settings, from, choice, "text", .words = "text f32 f64",
        .help =
            "input: text is a decimal or hex float, correctly rounded to binary64 first; f32 and f64 are 8 or 16 hex "
            "digits, the bits of a binary32 or binary64 value"),
    ULP_OPTION(settings, to, choice, "code", .words = "code value both",
               .help = "output: the code in lower-case hex; the value as %.17g, or nan, inf, -inf, -0"),
    {0},
};

static round_group group;

/* The values of a small format have few texts. Without memory for a table each value is printed. */
static round_text *text_table(const settings *s) {
    const int is_text = s->to == TO_VALUE || s->to == TO_BOTH;
    return is_text && s->target.format.bits <= 16 ? calloc((size_t)1 << s->target.format.bits, sizeof(round_text))
                                                  : NULL;
}

static int run(const ulp_arguments *a) {
    const settings *s = &given;
    int status = tool_target_set(&given.target, a);
    if (status != ULP_GO_ON) return status;
    group.target = s->target;
    group.to = s->to;
    group.out = stdout;
    group.powers = ulp_powers_of_ten();
    group.texts = text_table(s);
    if (ulp_backend_get(&group.backend, "cpu") != ULP_OK)
        return ulp_run_error(a->program, "%s", ulp_backend_lacks("cpu"));
    status = round_texts(&group, s->from, a);
    free(group.texts);
    return status;
}

const tool_command tool_round = {
    .command = {.name = "ulp round",
                .usage = "--format F [OPTION...] [FILE...]",
                .summary = "rounds numbers, one a line, to a format",
                .details = "Reads stdin when no file is given; '#' lines and blank lines are skipped. The first bad "
                           "line ends it with exit 2.\n\n"
                           "  printf '0.01\\n' | ulp round --format fp16 --to both\n"
                           "  211f 0.01000213623046875\n",
                .takes_words = 1},
    .groups = {{"input and output", options, &given}, TOOL_ROUNDING},
    .run = run};
