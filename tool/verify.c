/* verify.c - ulp verify: comparing rounding with the MPFR oracle; the options, and the cases that they choose.
 *
 * The inputs of a case are a sample, all 2^32 binary32 values, or a file with a file of results.
 */
#include "verify.h"

#include "kernels/mpfr/oracle.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { ALL_POLICIES = ULP_OVERFLOW_COUNT };

/* Read a ulp_overflow, or "all" as ALL_POLICIES. */
static ulp_status read_policies(void *field, const char *text, const ulp_option *option, ulp_error *error) {
    *(int *)field = ALL_POLICIES;
    if (strcmp(text, "all") == 0) return ULP_OK;
    if (ulp_type_overflow.read(field, text, option, error) == ULP_OK) return ULP_OK;
    return ulp_refuse_more(error, ", or all");
}

static void print_policies(ulp_text *to, const void *field, const ulp_option *option) {
    const int policy = *(const int *)field;
    (void)option;
    ulp_text_print(to, "%s", policy == ALL_POLICIES ? "all" : ulp_overflow_name((ulp_overflow)policy));
}

static void list_policies(ulp_text *to) {
    ulp_type_overflow.list(to);
    ulp_text_print(to, " all");
}

static const ulp_option_type policies_type = {
    .value_name = "POLICY", .size = sizeof(int), .read = read_policies, .print = print_policies, .list = list_policies};

typedef struct settings {
    ulp_format_list formats;
    ulp_rule_list modes;
    int policies;
    int exhaustive, plain;
    uint64_t sample, bits, seed, stream, jobs;
    ulp_format inputs_codes, results_codes; /* bits = 0: the files hold values */
    const char *inputs, *results, *resume, *runs;
    const ulp_backend *backend;
} settings;

static const ulp_option options[] = {
    ULP_OPTION_AS(settings, formats, "format", formats, "all",
                  .help = "formats, commas between them, or all that are registered"),
    ULP_OPTION_AS(settings, modes, "mode", modes, "all", .help = "rounding modes, commas between them, or all"),
    {.name = "overflow",
     .type = &policies_type,
     ULP_FIELD(struct settings, policies),
     .help = "overflow policies, all: inf, sat, nan and wrap; unless given all, under --exhaustive the format's own"},
    ULP_OPTION(settings, exhaustive, flag, NULL,
               .help = "all 2^32 binary32 inputs; MPFR is asked at the ends of runs with one result"),
    ULP_OPTION(settings, plain, flag, NULL,
               .help = "with --exhaustive: MPFR is asked for every input, which takes a hundred times as long"),
    ULP_OPTION(settings, runs, text, NULL, .value_name = "FILE",
               .help = "with --exhaustive and one case: writes the list of runs"),
    ULP_OPTION(settings, inputs, text, NULL, .value_name = "FILE",
               .help = "with --results: the inputs of another program's rounding, a .npy file or FILE.npz:NAME"),
    ULP_OPTION(settings, results, text, NULL, .value_name = "FILE",
               .help = "the values that this program got, an array of the same shape; with several modes the last "
                       "line says which ones they follow"),
    ULP_OPTION_AS(settings, inputs_codes, "inputs-format", format, NULL,
                  .help = "the file of --inputs holds codes of this format, integers of 1, 2, 4 or 8 bytes"),
    ULP_OPTION_AS(settings, results_codes, "results-format", format, NULL, .help = "the same for --results"),
    ULP_OPTION(settings, sample, unsigned, "100000", .min = 1, .max = 0x1p40,
               .help = "N inputs per case, boundary patterns and random ones, binary32 and binary64"),
    ULP_OPTION(settings, bits, unsigned, NULL, .min = 1, .max = 32,
               .help = "random bits of the stochastic modes; 32 unless given"),
    ULP_OPTION(settings, seed, unsigned, "1", .help = "of inputs and of random bits"),
    ULP_OPTION(settings, stream, unsigned, "0",
               .help = "with --inputs: the random word of element i is a function of seed, stream and i"),
    ULP_OPTION(settings, jobs, unsigned, NULL, .min = 1, .max = 65536,
               .help = "threads; OMP_NUM_THREADS, else all processors, unless given; not with --inputs"),
    ULP_OPTION(settings, resume, text, NULL, .value_name = "FILE",
               .help = "keeps finished pieces in FILE, a journal, and goes on from there"),
    ULP_OPTION(settings, backend, backend, "cpu", .help = "whose kernels"),
    {0},
};

#if defined(ULP_WITH_MPFR)

static int first_policy(const settings *s) { return s->policies == ALL_POLICIES ? ULP_OVERFLOW_INF : s->policies; }
static int last_policy(const settings *s) { return s->policies == ALL_POLICIES ? ULP_OVERFLOW_WRAP : s->policies; }
static int offered(const ulp_format *f, int policy) { return policy != ULP_OVERFLOW_WRAP || f->is_fixed; }

static size_t count_cases(const settings *s) {
    size_t n = 0;
    for (size_t f = 0; f < s->formats.count; f++)
        for (int p = first_policy(s); p <= last_policy(s); p++)
            n += (size_t)offered(&s->formats.at[f], p) * s->modes.count;
    return n;
}

/* Whether a case is swept by runs. The results of a stochastic mode form no runs. The ends of a run do not decide it
 * where numbers beyond the range become zero, or wrap around without a sign. */
static int by_runs(const settings *s, const ulp_format *f, size_t mode, int policy) {
    const ulp_overflow by = ulp_overflow_of(f, (ulp_overflow)policy);
    return s->exhaustive && !s->plain && by != ULP_OVERFLOW_ZERO && (by != ULP_OVERFLOW_WRAP || f->is_signed) &&
           !ulp_mode_is_stochastic(s->modes.at[mode].rule.mode);
}

/* Run the cases of one format that are not swept by runs. */
static ulp_status run_format(const settings *s, verify_job *j, size_t *number, size_t *failed, ulp_error *error) {
    const size_t of = count_cases(s);
    for (size_t m = 0; m < s->modes.count; m++)
        for (int p = first_policy(s); p <= last_policy(s); p++) {
            if (!offered(&j->format, p) || by_runs(s, &j->format, m, p)) continue;
            j->mode = s->modes.at[m];
            j->rule = j->mode.rule;
            j->rule.overflow = (uint8_t)p;
            if (j->rule.random_bits == 0) j->rule.random_bits = (uint8_t)(s->bits ? s->bits : 32);
            *failed += (size_t)!verify_case(j, ++*number, of);
            if (j->status != ULP_OK)
                return ulp_fail(error, ULP_BAD_FILE, "%s: %s", j->format.name, ulp_status_text(j->status));
        }
    return ULP_OK;
}

/* Run the cases that are swept by runs, which come first. */
static ulp_status run_sweeps(const settings *s, const verify_job *j, FILE *list, size_t *number, size_t *failed,
                             ulp_error *error) {
    const size_t of = count_cases(s);
    verify_runs_case *cases = ulp_grow(NULL, (of + 1) * sizeof *cases);
    for (size_t f = 0; f < s->formats.count; f++)
        for (size_t m = 0; m < s->modes.count; m++)
            for (int p = first_policy(s); p <= last_policy(s); p++) {
                if (!offered(&s->formats.at[f], p) || !by_runs(s, &s->formats.at[f], m, p)) continue;
                verify_runs_case *c = &cases[(*number)++];
                *c = (verify_runs_case){&s->formats.at[f], s->modes.at[m].name, s->modes.at[m].rule};
                c->rule.overflow = (uint8_t)p;
            }
    const verify_runs v = {j->program, j->backend, cases, *number, of, j->journal, list};
    const ulp_status status = *number > 0 ? verify_runs_all(&v, failed) : ULP_OK;
    free(cases);
    return status == ULP_OK ? ULP_OK : ulp_fail(error, ULP_BAD_FILE, "%s", ulp_status_text(status));
}

/* Run the sweeps, of which the only one writes its list of runs to --runs. */
static ulp_status run_listed(const settings *s, const verify_job *j, size_t *number, size_t *failed, ulp_error *error) {
    if (s->runs == NULL) return run_sweeps(s, j, NULL, number, failed, error);
    char *name = ulp_path_replace(s->runs, "", ".tmp");
    FILE *list = fopen(name, "w");
    ulp_status status = list ? run_sweeps(s, j, list, number, failed, error) : ULP_OK;
    const int bad =
        list == NULL || (ferror(list) | fclose(list)) != 0 || (status == ULP_OK && rename(name, s->runs) != 0);
    if (bad && status == ULP_OK) status = ulp_refuse(error, "cannot write %s: %s", s->runs, strerror(errno));
    if (list && status != ULP_OK) remove(name);
    free(name);
    return status;
}

static ulp_status run_cases(const settings *s, verify_job *j, ulp_error *error) {
    const double started = ulp_clock();
    size_t number = 0, failed = 0;
    ULP_TRY(run_listed(s, j, &number, &failed, error));
    for (size_t f = 0; f < s->formats.count; f++) {
        j->format = s->formats.at[f];
        ULP_TRY(run_format(s, j, &number, &failed, error));
    }
    const size_t inputs = number * j->inputs, threads = (size_t)ulp_threads_get();
    printf("%zu case%s, %zu input%s: %zu passed, %zu failed, %.1f s on %zu thread%s\n", number, ulp_plural(number),
           inputs, ulp_plural(inputs), number - failed, failed, ulp_clock() - started, threads, ulp_plural(threads));
    return failed == 0 ? ULP_OK : tool_failed(error, TOOL_CHECK_FAILED);
}

/* Refuse --backend mpfr, and --bits if a mode that the user names is not stochastic. */
static ulp_status check_settings(const settings *s, const ulp_arguments *a, ulp_error *error) {
    if (s->backend != NULL && strcmp(s->backend->name, "mpfr") == 0)
        return ulp_refuse(error, "--backend mpfr: this is the oracle, with which other backends are compared");
    const ulp_setting *mode = ulp_setting_find(a, "mode");
    for (size_t m = 0; s->bits != 0 && strcmp(mode->value, "all") != 0 && m < s->modes.count; m++)
        if (!ulp_mode_is_stochastic(s->modes.at[m].rule.mode))
            return tool_refuse_bits(s->bits, s->modes.at[m].name, error);
    return ULP_OK;
}

/* ---- the results of another program ---- */

/* Refuse options that do not go with --inputs and --results. */
static ulp_status check_files(const settings *s, const ulp_arguments *a, ulp_error *error) {
    static const char *const others[] = {"exhaustive", "plain", "runs", "sample", "jobs", "resume", "backend"};
    if ((s->inputs == NULL) != (s->results == NULL))
        return ulp_refuse(error, "--inputs and --results are given together");
    if (s->inputs == NULL && ulp_setting_given(a, "stream"))
        return ulp_refuse(error, "--stream %llu: goes with --inputs", (unsigned long long)s->stream);
    for (size_t i = 0; s->inputs != NULL && i < sizeof others / sizeof *others; i++)
        if (ulp_setting_given(a, others[i])) return ulp_refuse(error, "--%s does not go with --inputs", others[i]);
    if (s->inputs == NULL && (s->inputs_codes.bits > 0 || s->results_codes.bits > 0))
        return ulp_refuse(error, "--%s-format: goes with --inputs and --results",
                          s->inputs_codes.bits > 0 ? "inputs" : "results");
    if (s->inputs != NULL && s->formats.count != 1)
        return ulp_refuse(error, "the results of --results are of one --format; name it");
    return ULP_OK;
}

static ulp_status run_files(const settings *s, const ulp_arguments *a, ulp_error *error) {
    verify_files w = {.inputs = s->inputs,
                      .results = s->results,
                      .inputs_codes = s->inputs_codes.bits > 0 ? &s->inputs_codes : NULL,
                      .results_codes = s->results_codes.bits > 0 ? &s->results_codes : NULL,
                      .format = s->formats.at[0],
                      .modes = &s->modes,
                      .overflow = ulp_setting_given(a, "overflow") ? s->policies : ULP_OVERFLOW_DEFAULT,
                      .bits = s->bits,
                      .stream = {s->seed, s->stream, 0}};
    if (s->policies == ALL_POLICIES && ulp_setting_given(a, "overflow"))
        return ulp_refuse(error, "--overflow all: the results of --results follow one policy");
    if (ulp_rule_check_single(&w.format, (ulp_rule){.overflow = (uint8_t)w.overflow}) != ULP_OK)
        return tool_refuse_wrap((ulp_overflow)w.overflow, w.format.name, error);
    return verify_files_run(&w, a->program, error);
}

/* Refuse options of a sweep that have nothing to say. */
static ulp_status check_sweep(const settings *s, const ulp_arguments *a, ulp_error *error) {
    if (s->exhaustive && ulp_setting_given(a, "sample"))
        return ulp_refuse(error, "--exhaustive and --sample exclude each other");
    if (s->plain && !s->exhaustive) return ulp_refuse(error, "--plain goes with --exhaustive");
    if (s->runs == NULL) return ULP_OK;
    if (!s->exhaustive || s->plain)
        return ulp_refuse(error, "--runs %s: goes with --exhaustive without --plain", s->runs);
    if (count_cases(s) != 1 || !by_runs(s, &s->formats.at[0], 0, first_policy(s)))
        return ulp_refuse(error, "--runs %s: name one format, one deterministic mode and one overflow policy", s->runs);
    return ULP_OK;
}

/* Whether the file of this name is the journal, if there is one already. */
static int is_journal(const settings *s, const char *name) {
    struct stat file, resumed;
    return name != NULL && s->resume != NULL && stat(name, &file) == 0 && stat(s->resume, &resumed) == 0 &&
           file.st_dev == resumed.st_dev && file.st_ino == resumed.st_ino;
}

static ulp_status refuse_journal(const settings *s, ulp_error *error) {
    return ulp_refuse(error, "--runs %s is the file of --resume: name another file", s->runs);
}

static ulp_status run(void *fields, const ulp_arguments *a, ulp_error *error) {
    settings *s = fields;
    ulp_reference_allocate_by(ulp_grow);
    ULP_TRY(check_files(s, a, error));
    ULP_TRY(check_settings(s, a, error));
    if (s->inputs != NULL) return run_files(s, a, error);
    if (!ulp_setting_given(a, "overflow")) s->policies = s->exhaustive ? ULP_OVERFLOW_DEFAULT : ALL_POLICIES;
    if (count_cases(s) == 0)
        return ulp_refuse(error, "--overflow wrap is offered by fixed point alone: there is no case to verify");
    ULP_TRY(check_sweep(s, a, error));
    verify_job j = {.program = a->program,
                    .backend = s->backend,
                    .exhaustive = s->exhaustive,
                    .inputs = s->exhaustive ? 1ull << 32 : s->sample,
                    .stream = {s->seed, 0, 0}};
    if (is_journal(s, s->runs)) return refuse_journal(s, error);
    if (s->resume != NULL) ULP_TRY(journal_open(&j.journal, a->program, s->resume, error));
    if (is_journal(s, s->runs))
        return journal_close(j.journal, NULL), refuse_journal(s, error); /* a new one, as ./x and x */
    pthread_mutex_init(&j.lock, NULL);
    ulp_threads_set((int)s->jobs);
    const ulp_status status = run_cases(s, &j, error);
    pthread_mutex_destroy(&j.lock);
    if (j.journal == NULL) return status;
    const ulp_status closed = journal_close(j.journal, status == ULP_OK || error->text[0] == '\0' ? error : NULL);
    return status == ULP_OK ? closed : status;
}

#define WITHOUT_MPFR ""

#else

#define WITHOUT_MPFR "\nThis build has no MPFR, and the command ends with exit status 3.\n"

static ulp_status run(void *fields, const ulp_arguments *a, ulp_error *error) {
    (void)fields, (void)a;
    return ulp_fail(error, ULP_NO_DEVICE,
                    "this build has no MPFR; in the source tree install libmpfr-dev and run make again");
}

#endif

const tool_command tool_verify = {
    .command =
        {.name = "ulp verify",
         .usage = "[OPTION...]",
         .summary = "compares rounding with GNU MPFR",
         .details =
             "One PASS or FAIL line per case of format, mode and overflow policy, with the numbers of inputs and "
             "mismatches and a hash; then a count. The hash is made from the bits of all results of the case, in the "
             "order of the inputs. Under --exhaustive it is the SHA-256 of the list of runs: a run is a row of "
             "neighbouring inputs with one result, or with results equal to the inputs, and the list has its first and "
             "last input and their results, in hex. Stochastic modes have no runs and are swept as by --plain. Equal "
             "hashes of two runs with the same inputs and seed mean equal results to the last bit, on any machine, "
             "backend and number of threads. The exit status is the verdict. A journal keeps pieces of any case: taken "
             "are those of the same case, inputs, seed, backend and instruction set or device, others are computed and "
             "kept beside them. A journal of another build is refused.\n\n"
             "With --inputs and --results the results are another program's, values of 2, 4 or 8 bytes: a library, a "
             "kernel, a GPU. Each is compared with MPFR's. NaN equals NaN; the signs of zeros count. The first "
             "differences are shown. With several modes the last line names the modes that the results follow, and the "
             "exit status is 0 if there is one.\n\n"
             "  ulp verify --format e4m3 --mode rne --inputs x.npy --results y.npy\n"
             "  ulp verify --format bf16 --mode all --inputs x.npy --results y.npy   # which mode is "
             "it?\n" WITHOUT_MPFR},
    .size = sizeof(settings),
    .groups = {{"options", options, 0}},
    .run = run};
