/* help.c - ulp help: the commands, and the names that options take, printed from the tables that define them. */
#include "formats/function.h"
#include "kernels/reduction/reduction.h"
#include "sim/help.h"
#include "tool.h"

#include <string.h>

static void add_line(void *context, const char *line) { ulp_text_print(context, "%s\n", line); }

static void help_formats(ulp_text *to) {
    static const char *const families[] = {"e5m7", "q6.10", "binary8p3sf", "posit12",
                                           "takum12"}; /* one name of each family */
    const ulp_format_row *row;
    ulp_format f;
    ulp_text_print(to, "A format is a set of numbers and their codes: a row of this table, or a name of a family "
                       "below, with or without a suffix.\n\n");
    ulp_text_print(to, "%-12s %-20s %4s %3s %5s  %s\n", "name", "other names", "bits", "p", "emax", "source");
    for (size_t i = 0; ulp_format_get(i, &f, &row) == ULP_OK; i++)
        ulp_text_print(to, "%-12s %-20s %4d %3d %5d  %s\n", f.name, row->aliases, f.bits, f.prec, f.emax, row->source);
    ulp_text_print(to, "p: significant bits, the hidden bit included (fixed point: all bits); emax: the exponent of "
                       "the largest number (fixed point: numbers from -2^emax to below 2^emax).\n"
                       "\nBesides these rows every name of a family is a format:\n");
    for (size_t i = 0; i < sizeof families / sizeof families[0]; i++)
        ulp_text_print(to, "  %s\n", ulp_format_limits(families[i]));
    ulp_text_print(
        to,
        "eXmY has a sign, X exponent bits and Y fraction bits. Where eXmY is no row, the rules are those of IEEE "
        "754: the top exponent holds infinity and, if Y > 0, NaN. eXmYieee is this format where eXmY is a row.\n"
        "qI.F is two's complement with I bits before the binary point and F bits after it, uqI.F has no sign. I may "
        "be negative: the first bits after the point are then left out (q-2.10 has 8 bits). I + F is 1 to 53.\n"
        "binaryKpP has K bits in all and P significant bits. It ends with s or u (signed or not) and with e or f "
        "(with infinities or finite).\n"
        "positN is the posit of N bits with 2 exponent bits (Posit Standard 2022), positNesE an older one with E. "
        "takumN is the linear takum of N bits. In these tapered formats, and in hif8, the precision depends on the "
        "exponent; p is the largest. Rounding is that of the code, read as a number. In posits and takums no "
        "number becomes zero or infinite, and only NaN and infinite inputs become NaR, which is shown as nan.\n"
        "A suffix changes a format: :nosub has no subnormal numbers; :daz takes subnormal operands for zero, and :ftz "
        "makes zero of a result that is tiny after rounding, both with the sign (of `ulp round`, `arith`, `show` and "
        "ul.round; sums of products and networks refuse them); :bias=N, N from 0 to 63, sets the bias of the "
        "exponent field, which cfloat8 leaves to the program; one of");
    for (int i = ULP_OVERFLOW_INF; i < ULP_OVERFLOW_COUNT; i++)
        ulp_text_print(to, " :%s", ulp_overflow_name((ulp_overflow)i));
    ulp_text_print(to,
                   " says what a result beyond the range becomes:\n"
                   "  :inf   infinity, or the largest number where the mode rounds toward zero there; NaN in a format "
                   "without infinities, and the largest number in a format without NaN too\n"
                   "  :sat   the nearest end of the range, for an infinite input too\n"
                   "  :nan   NaN, for an infinite input too\n"
                   "  :wrap  fixed point only: the result modulo 2^bits; an infinite input becomes the nearest end\n"
                   "  :sym   the nearest of the largest number and its negative: int8:sym ends at -127 (AP_SAT_SYM)\n"
                   "  :zero  zero, for an infinite input too (AP_SAT_ZERO)\n"
                   "Without a suffix it is :inf in a format with infinities or a tapered format, else :sat. In an "
                   "unsigned format a negative number is beyond the range unless it rounds to zero: :sat and :sym "
                   "give the least number, :nan gives NaN, and so does :inf where the format has NaN. e8m0 has no "
                   "zero: its least number 2^-127 stands for zero.\n"
                   "`ulp formats` prints all parameters of the rows, `ulp show` draws a number in a format.\n");
}

static void help_names(ulp_text *to) {
    const ulp_other_name *row;
    ulp_format f;
    ulp_text_print(to,
                   "What other tools call formats. All these names are names here, in upper or lower case; so are the "
                   "names and aliases of `ulp help formats`, as half, bf16 and int8, which are not repeated here.\n\n");
    ulp_text_print(to, "%-20s %-20s %s\n", "name", "format", "where");
    for (size_t i = 0; (row = ulp_other_name_get(i)) != NULL; i++) {
        if (row->format != NULL && ulp_format_parse(&f, row->format) == ULP_OK)
            ulp_text_print(to, "%-20s %-20s %s\n", row->name, f.name, row->where);
    }
    ulp_text_print(to, "\nThese words mean numbers that no format here has:\n\n");
    for (size_t i = 0; (row = ulp_other_name_get(i)) != NULL; i++)
        if (row->format == NULL) ulp_text_print(to, "%-20s %s\n", row->name, row->where);
}

static void help_modes(ulp_text *to) {
    ulp_text_print(to,
                   "A rounding mode says which of its two neighbours in the format replaces an inexact result.\n\n");
    for (int m = 0; m < ULP_MODE_COUNT; m++)
        ulp_text_print(to, "%-5s %s\n", ulp_mode_name((ulp_mode)m), ulp_mode_meaning((ulp_mode)m));
    ulp_text_print(
        to, "\nsr is another name for sra. A stochastic mode rounds with r random bits R and the discarded fraction nu "
            "of the magnitude, in units of the spacing: sr/8, srb/8 and src/8 take 8 bits, a name alone takes 32 (`ulp "
            "round`, `arith` and `block` take the number by --bits). Their \"up\" means away from zero, for negative "
            "numbers too. The mode ru, toward +infinity, moves negative numbers toward zero.\n");
}

/* Add the names of the rows for hardware. */
static void add_rows(ulp_text *to) {
    ulp_datapath d;
    ulp_text_print(to, "\nThe rows of hardware (`ulp probe --list` prints their fields):\n ");
    for (size_t i = 0; ulp_datapath_get(i, &d) == ULP_OK; i++) ulp_text_print(to, " %s", d.name);
    ulp_text_print(to, "\n\n%s\n", TOOL_DATAPATH_SOURCES);
}

/* Add the forms of datapath names, one entry each. A line that begins with a blank continues the previous entry, or is
 * a form of native products. */
static void help_datapaths(ulp_text *to) {
    ulp_text_print(
        to,
        "A datapath says how a sum of products is formed: in which order, in which format, and where it is rounded.\n");
    for (const char *line = ulp_datapath_names(); *line; line += strcspn(line, "\n"), line += *line == '\n') {
        const int native = strncmp(line + strspn(line, " "), "native:", 7) == 0 && *line == ' ';
        const int goes_on = *line == ' ' && !native, length = (int)strcspn(line, "\n");
        const int blanks = (int)strspn(line, " ");
        if (goes_on) ulp_text_print(to, " %.*s", length - blanks, line + blanks);
        else ulp_text_print(to, "\n%s%.*s", native ? "  " : "", length - blanks, line + blanks);
    }
    ulp_text_print(to, "\n\n");
    ulp_datapath_settings_help(&(ulp_help){add_line, to});
    add_rows(to);
}

static void help_functions(ulp_text *to) {
    ulp_text_print(
        to, "A function of `ulp arith --op`, and of the Python package, gives the exact value for a number of the "
            "format, rounded once, in every format and mode. A decimal that the format does not hold is rounded to the "
            "format first: in bf16 0.3 is 0.30078125. So it judges the functions of other programs: their "
            "error is the distance from its result.\n\n");
    for (int i = 0; i < ULP_FUNCTION_COUNT; i++)
        ulp_text_print(to, "%-10s  %s\n", ulp_function_name((ulp_function)i), ulp_function_meaning((ulp_function)i));
    ulp_text_print(
        to,
        "\nZeros, infinities and arguments without a result follow IEEE 754-2019, 9.2.1: log(0) = -inf, log(-1) = nan, "
        "sin(inf) = nan, rsqrt(-0) = -inf. The other functions have their limits at infinity: sigmoid(-inf) = 0, "
        "silu(-inf) = gelu(-inf) = -0. exp and exp2 are not offered with wrap-around.\n\n"
        "  printf '3c00\\n' | ulp arith --format fp16 --op exp\n"
        "  4170\n");
}

static void help_trees(ulp_text *to) {
    ulp_text_print(
        to, "ulp probe --tree NAME finds the order of a sum (Xie et al. 2025, arXiv 2411.00442): of a datapath, of "
            "cblas_sdot and cblas_sgemm of OpenBLAS, or, with --exec, of a program. All terms are units, but two are M "
            "and -M, next to which units are lost. The result counts the units that are added after both.\n\n"
            "(x y)        the sum of x and y\n"
            "(x y z)      a sum of three terms at once, as Tensor Cores form it\n"
            "[x y z]      a sum of three terms without loss before its rounding; # in the drawing\n"
            "0-15         the products 0 to 15; c is the start value\n"
            "0-24/8       the products 0, 8, 16 and 24\n"
            "{x 0-63:16}  the products 0 to 63 are added to x in this order, 16 at a time; without :16 one at a time, "
            ":[16] in sums without loss\n"
            "<0-15>       a binary tree, whose left part has the largest power of two below the number of products\n\n"
            "--plain prints no {} and <>. --csv prints a row for each node, with its place in the drawing.\n\n"
            "--exec PROGRAM starts the command once. For each sum it gets one line: c, the k values of a, then the k "
            "values of b, with single blanks between them: decimal numbers of up to 17 digits, or inf, -inf, nan. A "
            "line of n words has k = (n - 1) / 2, which changes from line to line. It answers with one line: the "
            "result, as a decimal or hex number, inf or nan, which is read as the nearest value of --result. It has to "
            "flush its output after each line. A program that ends, gives no answer within --timeout, or answers with "
            "anything else ends the probe with exit status 1. Without --tree its properties are found.\n\n"
            "  ulp probe --tree h100-fp16 --k 48\n"
            "  ulp probe --tree --exec 'python3 -u sum.py' --k 64\n");
}

typedef struct topic {
    const char *name, *what;
    void (*print)(ulp_text *to);
    void (*write)(const ulp_help *to); /* for the topics of sim/; replaces print */
    int indent;                        /* start of the second column, under which entries continue */
} topic;

static const topic own_topics[] = {
    {"formats", "number formats: rows, families, suffixes", help_formats, NULL, 0},
    {"names", "names of formats in other tools", help_names, NULL, 42},
    {"modes", "rounding modes", help_modes, NULL, 6},
    {"datapaths", "how sums of products are formed", help_datapaths, NULL, 23},
    {"functions", "exp, log, tanh, gelu and others, correctly rounded", help_functions, NULL, 12},
    {"trees", "the order of a sum, and how other programs are probed", help_trees, NULL, 13},
    {"reductions", "how the gradients of many ranks become one mean", NULL, ulp_reduction_help, ULP_HELP_COLUMN},
};

enum { OWN_TOPICS = sizeof own_topics / sizeof own_topics[0] };

/* *t = topic i: first the topics of this file, then the topics of sim/. Returns 0 past the end. */
static int topic_get(topic *t, size_t i) {
    const ulp_help_topic *more = i < OWN_TOPICS ? NULL : ulp_sim_topic_get(i - OWN_TOPICS);
    if (i < OWN_TOPICS) *t = own_topics[i];
    else if (more) *t = (topic){more->name, more->what, NULL, more->write, ULP_HELP_COLUMN};
    return i < OWN_TOPICS || more != NULL;
}

static int width(void) {
    const int columns = ulp_columns_of(stdout);
    return columns > 80 ? 80 : columns < 24 ? 24 : columns;
}

/* The indent of the continuation of a line: the second column; for an indented line two columns more than the line; for
 * a paragraph 0. */
static int indent_of(const char *line, const topic *t) {
    const int blanks = (int)strspn(line, " ");
    if (blanks || width() < 60) return blanks + 2;
    const char *gap = strstr(line, "  ");
    if (!gap) return 0;
    const int second = (int)(gap - line) + (int)strspn(gap, " ");
    return second < t->indent ? second : t->indent;
}

static void print_topic(const topic *t) {
    ulp_text text = {0}, wrapped = {0};
    const ulp_help help = {.line = add_line, .context = &text};
    if (t->print) t->print(&text);
    else t->write(&help);
    for (const char *line = ulp_text_of(&text); *line; line += strcspn(line, "\n"), line += *line == '\n') {
        ulp_text one = {0};
        ulp_text_add(&one, line, strcspn(line, "\n"));
        ulp_text_wrap(&wrapped, ulp_text_of(&one), 0, indent_of(ulp_text_of(&one), t), width());
        ulp_text_add(&wrapped, "\n", 1);
        ulp_text_free(&one);
    }
    fputs(ulp_text_of(&wrapped), stdout);
    ulp_text_free(&text);
    ulp_text_free(&wrapped);
}

static const ulp_command help_command = {.name = "ulp help",
                                         .usage = "[TOPIC | COMMAND]",
                                         .summary = "explains the names that options take, and the commands",
                                         .details = "Without a word it lists the topics and the commands. `ulp help "
                                                    "COMMAND` prints what `ulp COMMAND --help` prints.\n\n"
                                                    "  ulp help formats\n"};

static void add_row(ulp_text *to, const char *name, const char *what) {
    ulp_text_print(to, "  %-10s ", name);
    ulp_text_wrap(to, what, 13, 13, width());
    ulp_text_add(to, "\n", 1);
}

static void print_overview(FILE *out, const tool_command *const *commands, size_t count) {
    ulp_text text = {0};
    topic t;
    ulp_text_wrap(&text,
                  "usage: ulp COMMAND [OPTION...]\n\nlow-precision arithmetic from the shell: round, compute and look, "
                  "bit for bit.\n\n",
                  0, 0, width());
    for (size_t i = 0; i < count; i++) add_row(&text, tool_name(commands[i]), commands[i]->command.summary);
    add_row(&text, "help", help_command.summary);
    ulp_text_print(&text, "\ntopics\n");
    for (size_t i = 0; topic_get(&t, i); i++) add_row(&text, t.name, t.what);
    ulp_text_print(&text, "\n");
    ulp_text_wrap(&text, "ulp COMMAND --help explains a command; ulp --version names the build.\n", 0, 0, width());
    ulp_help_tail(&text, width());
    fputs(ulp_text_of(&text), out);
    ulp_text_free(&text);
}

/* ulp help --help, --version, and options that do not exist. */
static ulp_status read_help_option(int argc, char **argv, ulp_error *error) {
    ulp_arguments a = {.command = &help_command};
    const ulp_status status = ulp_arguments_read(&a, argc, argv, 0, error);
    ulp_arguments_free(&a);
    return status;
}

static ulp_status unknown_topic(const char *given, const tool_command *const *commands, size_t count,
                                ulp_error *error) {
    ulp_text topics = {0}, known = {0};
    topic t;
    for (size_t i = 0; topic_get(&t, i); i++) ulp_text_print(&topics, "%s%s", i ? " " : "", t.name);
    ulp_text_print(&known, "%s", ulp_text_of(&topics));
    for (size_t i = 0; i < count; i++) ulp_text_print(&known, " %s", tool_name(commands[i]));
    ulp_refuse(error, "no topic '%s'%s\ntopics: %s", given, ulp_guess_of(given, ulp_text_of(&known), 1, "", "").text,
               ulp_text_of(&topics));
    ulp_text_free(&topics);
    ulp_text_free(&known);
    return ULP_BAD_ARGUMENT;
}

static ulp_status explain(const tool_command *const *commands, size_t count, int argc, char **argv, ulp_error *error) {
    topic t;
    const ulp_command *command = strcmp(argv[1], "help") == 0 ? &help_command : NULL;
    ulp_option_group groups[TOOL_GROUPS];
    size_t group_count = 0;
    if (argv[1][0] == '-') return read_help_option(argc, argv, error);
    if (argc > 2) return ulp_refuse(error, "one topic at a time; `ulp help` lists them");
    for (size_t i = 0; topic_get(&t, i); i++)
        if (strcmp(argv[1], t.name) == 0) return print_topic(&t), ULP_OK;
    for (size_t i = 0; i < count && !command; i++) {
        if (strcmp(argv[1], tool_name(commands[i])) != 0) continue;
        command = &commands[i]->command;
        group_count = tool_groups(groups, commands[i], NULL);
    }
    if (!command) return unknown_topic(argv[1], commands, count, error);
    ulp_help_print(stdout, command, groups, group_count);
    return ULP_OK;
}

ulp_status tool_help(FILE *out, const tool_command *const *commands, size_t count, int argc, char **argv,
                     ulp_error *error) {
    if (argc >= 2) return explain(commands, count, argc, argv, error);
    print_overview(out, commands, count);
    return ULP_OK;
}
