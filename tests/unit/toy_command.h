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
    ulp_op op;
    ulp_datapath_list datapaths;
    const ulp_backend *backend;
    const char *out, *folder;
    ulp_text_list merge;
    int flag;
} settings;

static settings s;

#define LONG_WORDS "alpha,bravo,charlie,delta,echo,foxtrot,golf,hotel,india,juliett,kilo,lima,mike,november,oscar,papa"

static const ulp_option options[] = {
    {.name = "size",
     .type = &ulp_type_integer,
     ULP_FIELD(settings, size),
     .value = "3",
     .quick = "1",
     .full = "10",
     .help = "rows of a point",
     .max = 1e6},
    {.name = "scale", .type = &ulp_type_number, ULP_FIELD(settings, scale), .value = "0.5", .help = "any number"},
    {.name = "seed", .type = &ulp_type_unsigned, ULP_FIELD(settings, seed), .value = "1", .help = "of all randomness"},
    {.name = "list-of",
     .type = &ulp_type_numbers,
     ULP_FIELD(settings, list),
     .value = "1..3,7",
     .help = "numbers",
     .max = 100},
    {.name = "counts",
     .type = &ulp_type_integers,
     ULP_FIELD(settings, counts),
     .value = "2,4..5",
     .help = "whole numbers",
     .min = -9,
     .max = 9},
    {.name = "shape",
     .type = &ulp_type_choice,
     ULP_FIELD(settings, shape),
     .value = "ring",
     .help = "a word",
     .words = "ring tree line"},
    {.name = "parts",
     .type = &ulp_type_choices,
     ULP_FIELD(settings, parts),
     .value = "all",
     .quick = "tail,head",
     .help = "a sentence that says at some length what is chosen here and why anybody would",
     .words = "head body tail"},
    {.name = "format", .type = &ulp_type_format, ULP_FIELD(settings, format), .help = "one format", .needed = 1},
    {.name = "formats",
     .type = &ulp_type_formats,
     ULP_FIELD(settings, formats),
     .value = "binary16,e4m3",
     .help = "formats",
     .takes = ulp_format_within_binary32,
     .wants = ULP_WANTS_WITHIN_BINARY32},
    {.name = "mode", .type = &ulp_type_mode, ULP_FIELD(settings, mode), .value = "rne", .help = "one mode"},
    {.name = "modes", .type = &ulp_type_modes, ULP_FIELD(settings, modes), .value = "rne,sr/8", .help = "modes"},
    {.name = "overflow",
     .type = &ulp_type_overflow,
     ULP_FIELD(settings, overflow),
     .value = "default",
     .help = "policy"},
    {.name = "op", .type = &ulp_type_op, ULP_FIELD(settings, op), .value = "add", .help = "operation"},
    {.name = "datapath", .type = &ulp_type_datapaths, ULP_FIELD(settings, datapaths), .value = "fp32", .help = "sums"},
    {.name = "backend", .type = &ulp_type_backend, ULP_FIELD(settings, backend), .value = "cpu", .help = "machine"},
    {0},
};
static const ulp_option common[] = {
    {.name = "out",
     .type = &ulp_type_text,
     ULP_FIELD(settings, out),
     .value = LONG_WORDS,
     .help = "the CSV",
     .value_name = "FILE"},
    {.name = "folder", .type = &ulp_type_folder, ULP_FIELD(settings, folder), .value = "", .help = "a folder"},
    {.name = "merge", .type = &ulp_type_texts, ULP_FIELD(settings, merge), .help = "finished points"},
    {.name = "flag", .type = &ulp_type_flag, ULP_FIELD(settings, flag), .help = "a flag"},
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
