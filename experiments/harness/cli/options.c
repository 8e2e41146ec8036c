/* options.c - the command line: one table drives parsing, --help and the complaints.
 *
 * `--name value` and `--name=value` mean the same; of an option given twice the last one counts, so that a
 * script can append. Values become numbers, formats and so on in settings.c.
 */
#include "experiments/harness/run.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

static const ulp_option common_options[] = {
    {"threads", ULP_OPTION_INTEGER, "0", NULL, NULL,
     "threads; 0: OMP_NUM_THREADS, else all processors; never changes a number", 0, 65536, NULL, 1},
    {"out", ULP_OPTION_TEXT, "", NULL, NULL, "the CSV (default results/NAME.csv); - for standard output", 0, 0, NULL,
     1},
    {"quick", ULP_OPTION_FLAG, "", NULL, NULL, "a small run, seconds", 0, 0, NULL, 1},
    {"full", ULP_OPTION_FLAG, "", NULL, NULL, "the published size", 0, 0, NULL, 1},
    {"list", ULP_OPTION_FLAG, "", NULL, NULL,
     "print one command per point of the grid, for GNU parallel or a job array", 0, 0, NULL, 1},
    {"shard", ULP_OPTION_TEXT, "", NULL, NULL, "only points I, I+N, I+2N, ...; a file of its own, for --merge", 0, 0,
     NULL, 1},
    {"merge", ULP_OPTION_TEXT, "", NULL, NULL, "take finished points from shards; what is missing is computed", 0, 0,
     NULL, 1},
    {"resume", ULP_OPTION_FLAG, "", NULL, NULL, "go on from OUT.part, which a stopped run leaves", 0, 0, NULL, 1},
    {"restart", ULP_OPTION_FLAG, "", NULL, NULL, "forget what a stopped run has left at OUT, and begin anew", 0, 0,
     NULL, 1},
    {"quiet", ULP_OPTION_FLAG, "", NULL, NULL, "no progress, no table; failed claims are still printed", 0, 0, NULL, 1},
    {"help", ULP_OPTION_FLAG, "", NULL, NULL, "this text", 0, 0, NULL, 1},
    {"version", ULP_OPTION_FLAG, "", NULL, NULL, "the version", 0, 0, NULL, 1},
};
enum { COMMON_COUNT = sizeof common_options / sizeof common_options[0] };

/* Words that every experiment spells alike and not every experiment takes. */
static const char *const shared_words[] = {"formats", "modes", "datapath", "seed", "seeds", "backend", "data"};

int ulp_usage_error(const ulp_run *run, const char *what, ...) {
    if (run->rank) return ULP_EXIT_USAGE;
    va_list arguments;
    va_start(arguments, what);
    fprintf(stderr, "%s: ", run->experiment->name);
    vfprintf(stderr, what, arguments);
    fprintf(stderr, "\n");
    va_end(arguments);
    return ULP_EXIT_USAGE;
}

/* Edit distance of two words, case ignored, two exchanged neighbours counted as one edit. */
static size_t word_distance(const char *a, const char *b, size_t m) {
    enum { LONGEST = 40 };
    size_t d[LONGEST + 1][LONGEST + 1], n = strlen(a);
    if (n > LONGEST || m > LONGEST) return LONGEST;
    for (size_t i = 0; i <= n; i++) {
        for (size_t j = 0; j <= m; j++) {
            if (!i || !j) {
                d[i][j] = i + j;
                continue;
            }
            int x = tolower((unsigned char)a[i - 1]), y = tolower((unsigned char)b[j - 1]);
            size_t best = d[i - 1][j - 1] + (x != y);
            if (d[i - 1][j] + 1 < best) best = d[i - 1][j] + 1;
            if (d[i][j - 1] + 1 < best) best = d[i][j - 1] + 1;
            if (i > 1 && j > 1 && x == tolower((unsigned char)b[j - 2]) && y == tolower((unsigned char)a[i - 2]) &&
                d[i - 2][j - 2] + 1 < best)
                best = d[i - 2][j - 2] + 1;
            d[i][j] = best;
        }
    }
    return d[n][m];
}

int ulp_suggest(char *near_word, size_t size, const char *text, const char *words) {
    size_t best = strlen(text) / 3 + 1;
    int found = 0;
    for (const char *word = words + strspn(words, " "); *word; word += strspn(word, " ")) {
        size_t length = strcspn(word, " "), distance = word_distance(text, word, length);
        if ((distance < best || (distance == best && !found)) && length < size && distance < length) {
            memcpy(near_word, word, length);
            near_word[length] = '\0';
            best = distance;
            found = 1;
        }
        word += length;
    }
    return found;
}

ulp_setting *ulp_setting_find(const ulp_run *run, const char *name) {
    for (size_t i = 0; i < run->setting_count; i++)
        if (strcmp(run->settings[i].option->name, name) == 0) return &run->settings[i];
    return NULL;
}

static void collect_settings(ulp_run *run) {
    const ulp_option *own = run->experiment->options;
    size_t count = 0;
    while (own && own[count].name) count++;
    run->settings = ulp_grow(NULL, (count + COMMON_COUNT) * sizeof *run->settings);
    for (size_t i = 0; i < count + COMMON_COUNT; i++)
        run->settings[i] = (ulp_setting){.option = i < count ? &own[i] : &common_options[i - count]};
    run->setting_count = count + COMMON_COUNT;
}

static int unknown_option(const ulp_run *run, const char *name) {
    char near_word[48];
    ulp_text known = {0};
    for (size_t i = 0; i < sizeof shared_words / sizeof shared_words[0]; i++)
        if (strcmp(shared_words[i], name) == 0)
            return ulp_usage_error(
                run, "--%s would change nothing here: this experiment does not depend on it (see --help)", name);
    for (size_t i = 0; i < run->setting_count; i++) ulp_text_print(&known, " %s", run->settings[i].option->name);
    int near_one = ulp_suggest(near_word, sizeof near_word, name, ulp_text_of(&known));
    ulp_text list = {0};
    for (size_t i = 0; i < run->setting_count; i++) ulp_text_print(&list, " --%s", run->settings[i].option->name);
    int status = ulp_usage_error(run, "no option --%s%s%s%s\nknown:%s", name, near_one ? "; did you mean --" : "",
                                 near_one ? near_word : "", near_one ? "?" : "", ulp_text_of(&list));
    ulp_text_free(&known);
    ulp_text_free(&list);
    return status;
}

/* What stands for an option's value in --help, with a space before it. */
static const char *value_name(const ulp_option *option) {
    static const char *const kinds[] = {
        [ULP_OPTION_FLAG] = "",          [ULP_OPTION_INTEGER] = " N",      [ULP_OPTION_NUMBER] = " X",
        [ULP_OPTION_NUMBERS] = " X,...", [ULP_OPTION_INTEGERS] = " N,...", [ULP_OPTION_TEXT] = " TEXT",
        [ULP_OPTION_CHOICE] = " WORD",   [ULP_OPTION_CHOICES] = " LIST",   [ULP_OPTION_FORMATS] = " LIST",
        [ULP_OPTION_MODES] = " LIST",    [ULP_OPTION_DATAPATHS] = " LIST", [ULP_OPTION_BACKEND] = " NAME"};
    static const char *const texts[][2] = {
        {"out", " FILE"}, {"shard", " I/N"}, {"merge", " FILE..."}, {"data", " DIR"}};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
        if (option->type == ULP_OPTION_TEXT && strcmp(option->name, texts[i][0]) == 0) return texts[i][1];
    return kinds[option->type];
}

/* --shard, --merge and --resume make one run of several processes. */
static int cuts_the_run(const ulp_option *option) {
    static const char *const names[] = {"shard", "merge", "resume"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (strcmp(option->name, names[i]) == 0) return 1;
    return 0;
}

static void print_option(const ulp_run *run, const ulp_setting *setting) {
    const ulp_option *o = setting->option;
    char left[64];
    if (run->experiment->whole && cuts_the_run(o)) return;
    snprintf(left, sizeof left, "--%s%s", o->name, value_name(o));
    printf("  %-18s %s", left, o->help);
    if (o->words) printf(": %s", o->words);
    if (o->type != ULP_OPTION_FLAG && o->value[0]) printf(" [%s]", o->value);
    if (o->quick) printf(" [--quick: %s]", o->quick);
    if (o->full) printf(" [--full: %s]", o->full);
    printf("\n");
}

/* " WORD", on a line of its own where the line would become too long; returns the line's length. */
static int print_word(int column, const char *word) {
    enum { WIDTH = 110 };
    int length = (int)strlen(word) + 1;
    if (column + length > WIDTH) {
        printf("\n  ");
        column = 2;
    }
    printf(" %s", word);
    return column + length;
}

static void print_names(void) {
    const ulp_format_row *row;
    int column = printf("\nformats:");
    for (size_t i = 0; ulp_format_get(i, NULL, &row) == ULP_OK; i++) column = print_word(column, row->name);
    printf("\n   their aliases (fp16, bf16, fp32, int8, ...: ulp formats lists them), and any eXmY and qI.F such as "
           "e5m7 or\n"
           "   q6.10 (I counts the sign: ARM's Q7.8 is q8.8 here); after a name :nosub :sat :inf :nan :wrap\nmodes:");
    for (int m = 0; m < ULP_MODE_COUNT; m++) printf(" %s", ulp_mode_name((ulp_mode)m));
    printf("\n\n");
}

static void print_help(const ulp_run *run) {
    printf("%s - %s\n\nusage: %s [OPTION...]\n\nthis experiment\n", run->experiment->name, run->experiment->question,
           run->experiment->name);
    for (size_t i = 0; i + COMMON_COUNT < run->setting_count; i++) print_option(run, &run->settings[i]);
    printf("\nevery experiment\n");
    for (size_t i = run->setting_count - COMMON_COUNT; i < run->setting_count; i++)
        print_option(run, &run->settings[i]);
    print_names();
    if (!run->experiment->whole)
        printf(
            "shards: run --shard 0/N ... --shard N-1/N anywhere, then --merge FILE... with the same options gives the "
            "CSV of one run.\n");
    printf("files: OUT, and OUT's run.json beside it with what may differ between runs of the same numbers.\n"
           "environment: ULPLAB_ISA (baseline, avx2, avx512), ULPLAB_CUDA_DEVICE (which GPU, from 0), OMP_NUM_THREADS, "
           "ULPLAB_DATA,\n"
           "   NO_COLOR.\n"
           "exit: 0 fine, 1 the run or a check failed, 2 usage or bad input, 3 the machine lacks something.\n");
}

/* One option at argv[*i]; moves *i past what it takes. */
static int read_option(ulp_run *run, int argc, char **argv, int *i) {
    char *name = argv[*i] + 2, *equals = strchr(name, '=');
    if (equals) { /* cut the name out; argv itself is kept for the record */
        name = ulp_copy_text(name);
        name[equals - (argv[*i] + 2)] = '\0';
    }
    ulp_setting *setting = ulp_setting_find(run, name);
    int status = -1;
    if (!setting) status = unknown_option(run, name);
    else if (setting->option->type == ULP_OPTION_FLAG && equals)
        status = ulp_usage_error(run, "--%s takes no value", name);
    else if (setting->option->type != ULP_OPTION_FLAG && !equals &&
             (*i + 1 == argc || strncmp(argv[*i + 1], "--", 2) == 0))
        status = ulp_usage_error(run, "--%s needs a value: --%s%s, %s", name, name, value_name(setting->option),
                                 setting->option->help);
    else if (run->experiment->whole && cuts_the_run(setting->option))
        status = ulp_usage_error(
            run, "--%s: the numbers of this experiment belong to one run on one machine; run it whole", name);
    else {
        setting->given = 1;
        if (equals) setting->value = equals + 1;
        else if (setting->option->type != ULP_OPTION_FLAG) setting->value = argv[++*i];
        if (strcmp(setting->option->name, "merge") == 0) {
            run->merge[run->merge_count++] = setting->value;
            while (*i + 1 < argc && strncmp(argv[*i + 1], "--", 2) != 0) run->merge[run->merge_count++] = argv[++*i];
        }
    }
    if (equals) free(name);
    return status;
}

static int read_arguments(ulp_run *run, int argc, char **argv) {
    static char help[] = "--help";
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "-h") == 0) argv[i] = help;
        if (strncmp(argv[i], "--", 2) != 0 || !argv[i][2])
            return ulp_usage_error(run, "'%s' is not an option; options start with -- (see --help)", argv[i]);
        int status = read_option(run, argc, argv, &i);
        if (status >= 0) return status;
        if (ulp_setting_find(run, "help")->given) {
            if (!run->rank) print_help(run);
            return ULP_EXIT_FINE;
        }
        if (ulp_setting_find(run, "version")->given) {
            if (!run->rank) printf("ulplab %s, experiment %s\n", ulp_build_version(), run->experiment->name);
            return ULP_EXIT_FINE;
        }
    }
    return -1;
}

int ulp_options_read(ulp_run *run, int argc, char **argv) {
    run->argc = argc;
    run->argv = argv;
    collect_settings(run);
    run->merge = ulp_grow(NULL, ((size_t)argc + 1) * sizeof *run->merge);
    int status = read_arguments(run, argc, argv);
    if (status >= 0) return status;
    int quick = ulp_setting_find(run, "quick")->given, full = ulp_setting_find(run, "full")->given;
    if (quick && full) return ulp_usage_error(run, "--quick and --full exclude each other");
    if (ulp_setting_find(run, "resume")->given && ulp_setting_find(run, "restart")->given)
        return ulp_usage_error(run, "--resume and --restart exclude each other");
    for (size_t i = 0; i < run->setting_count; i++) {
        ulp_setting *s = &run->settings[i];
        if (s->given) continue;
        s->value = s->option->value ? s->option->value : "";
        if (quick && s->option->quick) s->value = s->option->quick;
        if (full && s->option->full) s->value = s->option->full;
    }
    return -1;
}

void ulp_options_free(ulp_run *run) {
    for (size_t i = 0; i < run->setting_count; i++) free(run->settings[i].numbers);
    free(run->settings);
    free(run->merge);
}
