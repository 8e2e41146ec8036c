/* rounding.c - subcommands that round: their options, and the numbers, random words and results of their lines. */
#include "tool.h"

#include <stdlib.h>

const ulp_option tool_rounding_options[] = {
    ULP_OPTION(tool_rounding, mode, mode, "rne", .help = "how results are rounded"),
    ULP_OPTION(tool_rounding, overflow, overflow, "default",
               .help = "what a result beyond the range becomes, in place of what the format or its suffix says"),
    ULP_OPTION(tool_rounding, bits, unsigned, NULL, .min = 1, .max = 32,
               .help = "random bits of the stochastic modes, 1 to 32; 32 unless given"),
    ULP_OPTION(tool_rounding, seed, unsigned, "1",
               .help = "the random word of line or element i, counted from 0, depends on seed, stream and i alone"),
    ULP_OPTION(tool_rounding, stream, unsigned, "0", .help = "see --seed"),
    {0},
};

ulp_status tool_refuse_bits(uint64_t bits, const char *mode, ulp_error *error) {
    ulp_text stochastic = {0};
    ulp_add_stochastic_modes(&stochastic);
    const ulp_status status = ulp_refuse(error, "--bits %llu: random bits are of the stochastic modes (%s), not of %s",
                                         (unsigned long long)bits, ulp_text_of(&stochastic), mode);
    ulp_text_free(&stochastic);
    return status;
}

ulp_status tool_rule(ulp_rule *rule, ulp_stream *stream, const tool_rounding *r, ulp_error *error) {
    if (r->bits != 0 && !ulp_mode_is_stochastic(r->mode))
        return tool_refuse_bits(r->bits, ulp_mode_name(r->mode), error);
    *rule = (ulp_rule){(uint8_t)r->mode, (uint8_t)r->overflow, (uint8_t)r->bits};
    *stream = (ulp_stream){r->seed, r->stream, 0};
    return ULP_OK;
}

ulp_status tool_refuse_wrap(ulp_overflow policy, const char *name, ulp_error *error) {
    return ulp_refuse(error, "--overflow %s is not offered by %s: only fixed point wraps around",
                      ulp_overflow_name(policy), name);
}

ulp_status tool_target_set(tool_target *to, ulp_error *error) {
    ULP_TRY(tool_rule(&to->rule, &to->stream, &to->options, error));
    if (ulp_rule_check_single(&to->format, to->rule) == ULP_OK) return ULP_OK;
    return tool_refuse_wrap(to->options.overflow, to->format.name, error);
}

uint32_t tool_random_word(const tool_target *to, const ulp_line *line) {
    return ulp_mode_is_stochastic(to->rule.mode) ? ulp_random_word(to->stream, line->index) : 0;
}

ulp_status tool_numbers_add(tool_numbers *numbers, const ulp_line *line, ulp_error *error) {
    if (numbers->n == numbers->room) {
        const size_t room = numbers->room == 0 ? 64 : 2 * numbers->room;
        ulp_exact *more = room <= SIZE_MAX / sizeof *more ? realloc(numbers->x, room * sizeof *more) : NULL;
        if (more == NULL) return ulp_no_line_memory(error, line, "");
        numbers->x = more;
        numbers->room = room;
    }
    if (!ulp_read_exact(&numbers->x[numbers->n], line->text, ULP_NUMBER_ALL))
        return ulp_bad_number(error, line, line->text);
    numbers->n++;
    return ULP_OK;
}

ulp_status tool_refuse_result(double y, const ulp_format *format, ulp_error *error) {
    char number[40];
    uint64_t code;
    tool_exact_text(number, y, 24);
    return ulp_refuse(error, "the result, %s, has no code in %s: %s", number, format->name,
                      ulp_status_text(ulp_encode(&code, y, format)));
}

ulp_status tool_print_encoded(const ulp_line *line, double y, const ulp_format *format, int form, ulp_error *error) {
    uint64_t code;
    if (ulp_encode(&code, y, format) == ULP_OK) return tool_print_result(stdout, code, format, form), ULP_OK;
    tool_refuse_result(y, format, error);
    return ulp_fail_within(error, ULP_BAD_ARGUMENT, "%s:%lu", line->file, line->number);
}
