/* toy_command.h - a command with an option of every type, for tests of the command line. */
#ifndef ULP_TESTS_TOY_COMMAND_H
#define ULP_TESTS_TOY_COMMAND_H

#include "experiments/harness/cli/options.h"

typedef struct settings {
    int64_t size;
    double scale;
    uint64_t seed;
    ulp_number_list list;
    ulp_integer_list counts;
    int shape;
    uint64_t parts;
    ulp_format format;
    ulp_format_list formats;
    ulp_mode mode;
    ulp_rule_list modes;
    ulp_overflow overflow;
    int op;
    ulp_datapath_list datapaths;
    const ulp_backend *backend;
    const char *out, *folder;
    ulp_text_list merge;
    int flag;
} settings;

static settings s;

#define LONG_WORDS "alpha,bravo,charlie,delta,echo,foxtrot,golf,hotel,india,juliett,kilo,lima,mike,november,oscar,papa"

static const ulp_option options[] = {
    ULP_OPTION(settings, size, integer, "3", .quick = "1", .full = "10", .help = "rows of a point", .max = 1e6),
    ULP_OPTION(settings, scale, number, "0.5", .help = "any number"),
    ULP_OPTION(settings, seed, unsigned, "1", .help = "of all randomness"),
    ULP_OPTION_AS(settings, list, "list-of", numbers, "1..3,7", .help = "numbers", .max = 100),
    ULP_OPTION(settings, counts, integers, "2,4..5", .help = "whole numbers", .min = -9, .max = 9),
    ULP_OPTION(settings, shape, choice, "ring", .help = "a word", .words = "ring tree line"),
    ULP_OPTION(settings, parts, choices, "all", .quick = "tail,head",
               .help = "a sentence that says at some length what is chosen here and why anybody would",
               .words = "head body tail"),
    ULP_OPTION(settings, format, format, NULL, .help = "one format", .needed = 1),
    ULP_OPTION(settings, formats, formats, "binary16,e4m3", .help = "formats", .takes = ulp_format_within_binary32,
               .wants = ULP_WANTS_WITHIN_BINARY32),
    ULP_OPTION(settings, mode, mode, "rne", .help = "one mode"),
    ULP_OPTION(settings, modes, modes, "rne,sr/8", .help = "modes"),
    ULP_OPTION(settings, overflow, overflow, "default", .help = "policy"),
    ULP_OPTION(settings, op, op, "add", .help = "operation"),
    ULP_OPTION_AS(settings, datapaths, "datapath", datapaths, "fp32", .help = "sums"),
    ULP_OPTION(settings, backend, backend, "cpu", .help = "machine"),
    {0},
};
static const ulp_option common[] = {
    ULP_OPTION(settings, out, text, LONG_WORDS, .help = "the CSV", .value_name = "FILE"),
    ULP_OPTION(settings, folder, folder, "", .help = "a folder"),
    ULP_OPTION(settings, merge, texts, NULL, .help = "finished points"),
    ULP_OPTION(settings, flag, flag, NULL, .help = "a flag"),
    {0},
};
static const ulp_option_group groups[] = {{"this toy", options, &s}, {"every toy", common, &s}};
static const char *const elsewhere[][2] = {{"nets", "would change nothing here"}, {NULL, NULL}};
static ulp_command toy = {.name = "toy",
                          .kind = "experiment",
                          .usage = "[OPTION...] [FILE...]",
                          .summary = "a command that prints its settings, so that tests can read them and compare",
                          .details = "A paragraph of details, which is longer than the eighty columns of a terminal.\n",
                          .elsewhere = elsewhere};

#endif
