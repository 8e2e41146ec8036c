/* round.c - ulp round: a filter that rounds numbers to a format. */
#include "tool/files/npy.h"
#include "tool/files/output.h"
#include "tool/round/group.h"

#include <errno.h>
#include <stdlib.h>

typedef struct settings {
    tool_target target;
    int from; /* round_from */
    int to;   /* round_to */
    const char *out;
} settings;

static settings given;

static const ulp_option options[] = {
    {.name = "format",
     .type = &ulp_type_format,
     ULP_FIELD(settings, target.format),
     .needed = 1,
     .help = "the format to round to; qI.F is fixed point of I + F bits, I counts the sign (ARM writes q8.8 as Q7.8)"},
    ULP_OPTION(settings, from, choice, "text", .words = "text f32 f64 f32le f64le npy npz",
               .help = "input: text is a decimal or hex float, correctly rounded to binary64 first; f32 and f64 are 8 "
                       "or 16 hex digits, the bits of a binary32 or binary64 value; f32le and f64le are such values in "
                       "4 or 8 bytes each, the lowest byte first; npy is a .npy file of 16, 32 or 64-bit floats; npz "
                       "is a .npz file of such arrays, and FILE.npz:NAME is one of them"),
    ULP_OPTION(settings, to, choice, "code", .words = "code value both f32le f64le codele npy npycode npz npzcode",
               .help = "output: the code in lower-case hex; the value as %.17g, or nan, inf, -inf, -0; f32le and "
                       "f64le: values of 4 or 8 bytes; codele: codes as unsigned integers of 1, 2, 4 or 8 bytes, the "
                       "least that hold the bits of the format, the lowest byte first; npy and npycode: a .npy file of "
                       "values or of codes; npz and npzcode: a .npz file of such arrays"),
    ULP_OPTION(settings, out, text, "-", .value_name = "FILE",
               .help = "the file for the output, - is stdout; an old file is replaced when all is done"),
    {0},
};

static round_group group;

/* The values of a small format have few texts. Without memory for a table each value is printed. */
static round_text *text_table(const settings *s) {
    const int is_text = s->to == TO_VALUE || s->to == TO_BOTH;
    return is_text && s->target.format.bits <= 16 ? calloc((size_t)1 << s->target.format.bits, sizeof(round_text))
                                                  : NULL;
}

/* The form of the output: the bytes of binary output are values of 4 or 8 bytes, or codes. */
static ulp_status choose_output(round_group *g, const settings *s, const ulp_arguments *a, ulp_error *error) {
    g->to = s->to;
    g->out = stdout;
    g->coded = g->target.format;
    g->is_npz = s->to == TO_NPZ || s->to == TO_NPZCODE;
    g->is_npy = s->to == TO_NPY || s->to == TO_NPYCODE || g->is_npz;
    g->npy_kind = s->to == TO_NPY || s->to == TO_NPZ ? 'f' : 'u';
    if (s->to == TO_F32LE && !g->target.format.fits_binary32)
        return ulp_refuse(error, "--to f32le: %s has values that binary32 does not hold; f64le holds them",
                          g->target.format.name);
    if (g->is_npz && s->from >= FROM_NPY && a->word_count > 1)
        return ulp_refuse(error, "a .npz file gets the arrays of one file; name one file, not %zu", a->word_count);
    if (g->is_npy && s->from >= FROM_NPY && a->word_count > 1)
        return ulp_refuse(error, "a .npy file holds one array; name one file, not %zu", a->word_count);
    if (g->is_npy && g->npy_kind == 'u') g->to = TO_CODELE;
    if (g->is_npy && g->npy_kind == 'f') round_choose_values(g, s->from == FROM_F64LE ? 8 : 4);
    return ULP_OK;
}

/* ---- the file of the results ---- */

typedef struct round_output {
    file_output to;
    int has_header_late; /* 1: the number of elements in the header is known at the end */
} round_output;

static void write_header(const round_group *g, uint64_t count) {
    npy_write_header(g->out, &(npy_array){.kind = g->npy_kind, .size = round_size(g), .dims = 1, .shape = {count}});
}

/* Open `path` for the results of the group ("-": stdout). `from` is a round_from. close_output() is called in any case.
 */
static ulp_status open_output(round_output *o, round_group *g, int from, const char *path, ulp_error *error) {
    ULP_TRY(ulp_place_choose(&o->to.place, path, error));
    o->has_header_late = g->is_npy && from < FROM_NPY;
    if (g->is_npz && o->to.place.direct)
        return ulp_refuse(error, "the list of arrays of a .npz file stands at its end; name a file with --out");
    if (o->has_header_late && o->to.place.direct)
        return ulp_refuse(error, "the header of a .npy file holds the number of elements, which is known at the end; "
                                 "name a file with --out");
    ULP_TRY(file_output_open(&o->to, error));
    g->out = g->archive.file = o->to.file;
    if (g->to >= TO_F32LE) ULP_TRY(file_output_refuse_terminal(&o->to, error));
    if (o->has_header_late && g->is_npz) npz_begin(&g->archive, "arr_0");
    if (o->has_header_late) write_header(g, 0);
    return ULP_OK;
}

/* Write the header at the beginning of the array again. */
static void complete_header(round_group *g) {
    if (fseek(g->out, g->is_npz ? npz_first(&g->archive) : 0, SEEK_SET) != 0) g->archive.failed = errno;
    write_header(g, g->index);
    if (fseek(g->out, 0, SEEK_END) != 0) g->archive.failed = errno;
    if (g->is_npz) npz_end(&g->archive);
}

/* Close the file; see file_output_close(). */
static ulp_status close_output(round_output *o, round_group *g, ulp_status status, ulp_error *error) {
    if (o->to.file != NULL && o->has_header_late && status == ULP_OK) complete_header(g);
    if (o->to.file != NULL && g->is_npz) npz_finish(&g->archive);
    return file_output_close(&o->to, status, status == ULP_OK ? g->archive.failed : 0, error);
}

/* ---- the command ---- */

static ulp_status run(const ulp_arguments *a, ulp_error *error) {
    const settings *s = &given;
    round_output output = {.to.program = a->program};
    ULP_TRY(tool_target_set(&given.target, error));
    group.target = s->target;
    group.n = group.index = 0;
    group.is_narrow = 0;
    group.archive = (npz_writer){0};
    if (ulp_backend_get(&group.backend, "cpu") != ULP_OK)
        return ulp_fail(error, ULP_BAD_FILE, "%s", ulp_backend_lacks("cpu"));
    ULP_TRY(choose_output(&group, s, a, error));
    group.texts = text_table(s);
    ulp_status status = open_output(&output, &group, s->from, s->out, error);
    if (status == ULP_OK && s->from < FROM_F32LE) status = round_texts(&group, s->from, a, error);
    else if (status == ULP_OK) status = round_binaries(&group, s->from, a, error);
    free(group.texts);
    return close_output(&output, &group, status, error);
}

const tool_command tool_round = {
    .command = {.name = "ulp round",
                .usage = "--format F [OPTION...] [FILE...]",
                .summary = "rounds numbers, one a line or binary, to a format",
                .details = "Reads stdin when no file is given; '#' lines and blank lines of text are skipped. The "
                           "first bad line ends it with exit 2, and so do bytes that are no whole number of values.\n\n"
                           "A .npy file keeps its shape and order. The number of element i, for random words, is its "
                           "place in the file. Its values are <f4, or <f8 where binary32 does not hold the format; "
                           "they keep the <f2 or <f8 of the input where it holds the format. Lines of text and plain "
                           "bytes become an array of one dimension, which needs --out.\n\n"
                           "A .npz file, stored or compressed, to a .npz file: each array keeps its name, or the array "
                           "that FILE.npz:NAME names; elements are counted through all arrays that are read. Other "
                           "output takes one array. Other input becomes the array arr_0.\n\n"
                           "  printf '0.01\\n' | ulp round --format fp16 --to both\n"
                           "  211f 0.01000213623046875\n",
                .takes_words = 1},
    .groups = {{"input and output", options, &given}, TOOL_ROUNDING},
    .run = run};
