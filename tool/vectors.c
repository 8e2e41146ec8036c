/* vectors.c - ulp vectors: files of conversions and sums with their results, with which others test their kernels. */
#include "tool.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "tool/vectors/vectors.h"

typedef struct settings {
    ulp_format_list formats;
    ulp_datapath_list datapaths;
    ulp_format in;
    const char *out;
    uint64_t sums, sample, seed;
    int check;
} settings;

static const ulp_option options[] = {
    ULP_OPTION_AS(settings, formats, "format", formats, NULL, .help = "formats, commas between them, or all"),
    ULP_OPTION_AS(settings, datapaths, "datapath", datapaths, NULL, .help = "datapaths, commas between them"),
    ULP_OPTION(settings, in, format, NULL,
               .help = "the format of a and b; datapaths with input formats imply it; the accumulator's unless given"),
    ULP_OPTION(settings, out, text, NULL, .value_name = "FOLDER", .needed = 1,
               .help = "the folder of the files; made if it is missing"),
    ULP_OPTION(settings, sums, unsigned, "1000", .min = 1, .max = 1e6, .help = "sums of each datapath"),
    ULP_OPTION(settings, sample, unsigned, "4096", .min = 1, .max = 1e6,
               .help = "breakpoints drawn from each format of 16 bits; a quarter of them from each wider one"),
    ULP_OPTION(settings, seed, unsigned, "1", .help = "of the random choices"),
    ULP_OPTION(settings, check, flag, NULL,
               .help = "compare every conversion with MPFR, and write no file of a format that differs"),
    {0},
};

static ulp_status make_folder(const vectors_request *r, const char *name, ulp_error *error) {
    ulp_text path = {0};
    ulp_text_print(&path, "%s%s%s", r->folder, name[0] != '\0' ? "/" : "", name);
    ulp_status status = ULP_OK;
    if (mkdir(ulp_text_of(&path), 0777) != 0 && errno != EEXIST)
        status = ulp_refuse(error, "cannot make the folder %s: %s; choose another place with --out", ulp_text_of(&path),
                            strerror(errno));
    ulp_text_free(&path);
    return status;
}

static ulp_status write_format(const vectors_request *request, const ulp_format *f, ulp_error *error) {
    vectors_request r = *request;
    vectors_counts n;
    if (f->bits > 16) r.sample = (r.sample + 3) / 4;
    ULP_TRY(vectors_of_format(&n, f, &r, error));
    printf("%-12s %5llu codes %6llu inputs %5llu overflows %5llu stochastic", f->name, (unsigned long long)n.codes,
           (unsigned long long)n.inputs, (unsigned long long)n.overflows, (unsigned long long)n.stochastic);
    if (r.check) printf("  %7llu results as MPFR gives them", (unsigned long long)n.compared);
    printf("\n");
    return ULP_OK;
}

static ulp_status write_formats(const settings *s, const vectors_request *r, int all, ulp_error *error) {
    const size_t count = all ? ulp_format_count : s->formats.count;
    if (count > 0) ULP_TRY(make_folder(r, "formats", error));
    for (size_t i = 0; i < count; i++) {
        ulp_format f;
        if (all) ulp_format_get(i, &f, NULL);
        else f = s->formats.at[i];
        ULP_TRY(write_format(r, &f, error));
    }
    return ULP_OK;
}

static ulp_status write_datapaths(const settings *s, const vectors_request *r, int all, const char *in,
                                  ulp_error *error) {
    ulp_text index = {0};
    ulp_datapath d;
    size_t i = 0;
    ulp_status status = all || s->datapaths.count > 0 ? make_folder(r, "datapaths", error) : ULP_OK;
    ulp_text_print(&index, "%s", vectors_index);
    for (; status == ULP_OK; i++) {
        if (all ? vectors_datapath(i, &d, &in) != ULP_OK : i == s->datapaths.count) break;
        status = vectors_of_datapath(&index, all ? &d : &s->datapaths.at[i], in, r, error);
    }
    if (status == ULP_OK && i > 0) {
        status = vectors_write_text(r, "datapaths.csv", &index, error);
        printf("%zu datapath%s, %llu sums each\n", i, ulp_plural(i), (unsigned long long)r->sums);
    }
    ulp_text_free(&index);
    return status;
}

/* ---- known random words ---- */

/* The seeds are also the numbers of the streams. Words 0 to 31, and words about a carry in the number of the block. */
static const uint64_t seeds[] = {0, 1, 42, 0xffffffffu, 0x100000000u, 0x0123456789abcdefu, UINT64_MAX};
static const uint64_t starts[] = {0, 0x3fffffff8u, 0x7ffffffffffffff8u};
enum { SEEDS = sizeof seeds / sizeof seeds[0], STARTS = sizeof starts / sizeof starts[0], FIRST = 32, MORE = 16 };

/* Write words.csv and words.npz: words of ULP_RNG_NAME as a function of seed, stream and index. */
static ulp_status write_words(const vectors_request *request, ulp_error *error) {
    vectors_file file = {0};
    vectors_array *const columns[] = {vectors_add(&file, 'u', 8, "seed"), vectors_add(&file, 'u', 8, "stream"),
                                      vectors_add(&file, 'u', 8, "index"), vectors_add(&file, 'u', 4, "word")};
    ulp_text csv = {0};
    ulp_text_print(&csv, "seed,stream,index,word\n");
    for (size_t i = 0; i < SEEDS * SEEDS * STARTS; i++) {
        const uint64_t start = starts[i % STARTS];
        const ulp_stream stream = {seeds[i / STARTS / SEEDS], seeds[i / STARTS % SEEDS], 0};
        for (uint64_t k = start; k < start + (start == 0 ? FIRST : MORE); k++) {
            const uint64_t row[] = {stream.seed, stream.stream, k, ulp_random_word(stream, k)};
            for (size_t c = 0; c < 4; c++) vectors_put(columns[c], row[c]), vectors_cell(&csv, row[c], c < 3 ? 64 : 32);
            ulp_text_add(&csv, "\n", 1);
        }
    }
    ulp_status status = vectors_write_npz(request, "words.npz", &file, error);
    if (status == ULP_OK) status = vectors_write_text(request, "words.csv", &csv, error);
    vectors_free(&file);
    ulp_text_free(&csv);
    return status;
}

/* ---- the command ---- */

/* --in belongs to datapaths that imply no input format. */
static ulp_status check_inputs(const settings *s, const ulp_arguments *a, ulp_error *error) {
    ulp_format x, y;
    if (!ulp_setting_given(a, "in")) return ULP_OK;
    if (s->datapaths.count == 0) return ulp_refuse(error, "--in needs --datapath");
    for (size_t i = 0; i < s->datapaths.count; i++)
        ULP_TRY(tool_choose_inputs(&x, &y, &s->datapaths.at[i], &s->in, error));
    return ULP_OK;
}

static ulp_status run(void *fields, const ulp_arguments *a, ulp_error *error) {
    const settings *s = fields;
    const int all = !ulp_setting_given(a, "format") && !ulp_setting_given(a, "datapath");
    const vectors_request r = {a->program, s->out, s->seed, s->sums, s->sample, s->check};
    if (s->check && !vectors_oracle_offered())
        return ulp_fail(error, ULP_NO_DEVICE,
                        "--check: this build has no MPFR; in the source tree install libmpfr-dev and run make again");
    ULP_TRY(check_inputs(s, a, error));
    ULP_TRY(make_folder(&r, "", error));
    ULP_TRY(write_formats(s, &r, all, error));
    ULP_TRY(write_datapaths(s, &r, all, ulp_setting_given(a, "in") ? s->in.name : NULL, error));
    return all ? write_words(&r, error) : ULP_OK;
}

const tool_command tool_vectors = {
    .command = {.name = "ulp vectors",
                .usage = "--out FOLDER [OPTION...]",
                .summary = "writes golden vectors: conversions and sums with results",
                .details =
                    "Writes for each format FOLDER/formats/NAME.npz and NAME.csv, with conversions of values, "
                    "midpoints, their neighbours and the edges of the range, and the resulting codes in every mode "
                    "and overflow policy; NAME.codes.csv, .overflow.csv and .stochastic.csv hold the other arrays of "
                    "the .npz file. Writes for each datapath FOLDER/datapaths/NAME.npz and NAME.csv, with sums of "
                    "eight kinds and their results. Without --format and --datapath it writes all registered "
                    "formats, all rows of hardware, a list of other datapaths, and known random words. `make vectors` "
                    "adds a README, which explains the columns, and checksums. The same options and seed give the "
                    "same bytes on any machine.\n\n"
                    "  ulp vectors --format e4m3,bf16 --datapath h100-e4m3 --out v\n"},
    .size = sizeof(settings),
    .groups = {{"options", options, 0}},
    .run = run};
