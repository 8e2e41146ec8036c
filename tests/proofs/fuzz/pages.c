/* pages.c - the functions of the page, which answer with JSON, on the texts and numbers that a reader may type. */
#include "tests/proofs/fuzz/support/fuzz.h"
#include "web/page.h"

/* Functions that no header names: the page calls them by name. */
const char *web_inputs(void);
const char *web_dot_set(const char *c, const char *products, const char *inputs);
const char *web_dot_random(double count, double spread, double seed);
const char *web_dot_machines(void);
const char *web_dot_terms(const char *name);
const char *web_lists(void);
const char *web_format(const char *name);
void web_data_clear(void);
int web_data_bin(int32_t e, double count);
void web_data_zeros(double count);
const char *web_data_text(double words, double lines);
const char *web_data_generate(const char *kind, double count, double centre, double width, double seed);
void web_judge_begin(void);
int web_judge(const char *format, int32_t scale, uint32_t first, uint32_t count);
uint32_t web_judge_bins(void);
const char *web_judge_report(void);
int web_line_values(const char *format, double low, double high, uint32_t most);
int web_line_around(const char *format, double x, uint32_t count);
const char *web_round_values(const char *format, const char *mode, const char *overflow, uint32_t bits, double seed,
                             uint32_t count);
const char *web_coin_sides(const char *format, const char *mode, uint32_t bits, double x);
const char *web_code(const char *format, const char *text);
const char *web_number(const char *format, const char *text, const char *mode, const char *overflow, uint32_t bits);
const char *web_finite(const char *text, double low, double high);
const char *web_sides(const char *formats, const char *text, const char *mode);
const char *web_cures(void);
const char *web_sum_numbers(double start, double term, double seed, double run, double period, double bits);
const char *web_sum_begin(const char *problem, const char *format, const char *mode, const char *cure);
uint32_t web_sum_run(uint32_t count);
const char *web_sum_report(void);

/* The lines of an input: the name of a function, and its texts and numbers. */
enum { LINES = 7 };
typedef struct input {
    const char *line[LINES]; /* "" for a line that is missing */
    double number[LINES];
} input;

static void read_input(input *in, char *text) {
    char *at = text;
    for (int i = 0; i < LINES; i++) {
        char *end = i + 1 < LINES ? strchr(at, '\n') : NULL; /* the last text may have several lines */
        in->line[i] = at;
        if (end) *end = '\0';
        in->number[i] = strtod(at, NULL);
        at = end ? end + 1 : at + strlen(at);
    }
}

static uint32_t small(double x) { return x >= 0 && x < 1e6 ? (uint32_t)x : 33; }

static const char *const functions[] = {"dot",    "random", "terms", "format", "data",  "generate",
                                        "line",   "around", "round", "coin",   "code",  "number",
                                        "finite", "sides",  "sum",   "inputs", "lists", "cures"};
enum { FUNCTIONS = sizeof functions / sizeof functions[0] };

static const char *judge(const input *in) {
    for (const char *f = in->line[5];;) {
        web_judge_begin();
        if (web_judge(f, (int32_t)small(in->number[4]) % 300 - 150, 0, 100000) < 0) return web_answer();
        web_judge_bins();
        return web_judge_report();
    }
}

static const char *data(const input *in) {
    web_data_clear();
    const size_t n = strlen(in->line[6]);
    memcpy(web_input(), in->line[6], n + 1);
    web_data_zeros(3);
    web_data_bin((int32_t)small(in->number[3]) % 200 - 100, 2);
    const char *answer = web_data_text(small(in->number[1]), small(in->number[2]));
    return strstr(answer, "error") ? answer : judge(in);
}

static const char *sum(const input *in) {
    const double *x = in->number;
    const char *answer =
        web_sum_numbers(x[1], x[2], x[3], 1 + small(x[4]) % 100, 1 + small(x[4]), 1 + small(x[3]) % 32);
    char words[4][40] = {"", "", "", ""};
    if (strstr(answer, "error")) return answer;
    sscanf(in->line[5], "%39s %39s %39s %39s", words[0], words[1], words[2], words[3]);
    answer = web_sum_begin(words[0], words[1], words[2], words[3]);
    if (strstr(answer, "error")) return answer;
    web_sum_run(200);
    return web_sum_report();
}

static const char *dot(const input *in) {
    const char *answer = web_dot_set(in->line[1], in->line[6], in->line[2]);
    return strstr(answer, "error") ? answer : web_dot_machines();
}

static const char *call(const input *in) {
    const char *const *t = in->line;
    const double *x = in->number;
    size_t which = 0;
    while (which + 1 < FUNCTIONS && strcmp(functions[which], t[0]) != 0) which++;
    switch (which) {
    case 0: return dot(in);
    case 1: return web_dot_random(x[1], x[2], x[3]);
    case 2: return web_dot_terms(t[1]);
    case 3: return web_format(t[1]);
    case 4: return data(in);
    case 5: return web_data_generate(t[1], small(x[2]) % 200, x[3], x[4], x[5]);
    case 6: return web_line_values(t[1], x[2], x[3], small(x[4])) == -2 ? web_answer() : "{}";
    case 7: return web_line_around(t[1], x[2], small(x[3]) % 1000) == -2 ? web_answer() : "{}";
    case 8: return web_round_values(t[1], t[2], t[3], small(x[4]), x[5], 4);
    case 9: return web_coin_sides(t[1], t[2], small(x[3]), x[4]);
    case 10: return web_code(t[1], t[2]);
    case 11: return web_number(t[1], t[2], t[3], t[4], small(x[5]));
    case 12: return web_finite(t[1], x[2], x[3]);
    case 13: return web_sides(t[1], t[2], t[3]);
    case 14: return sum(in);
    case 15: return web_inputs();
    case 16: return web_lists();
    default: return web_cures();
    }
}

static int is_valid(const char *text) {
    char *copy = ulp_copy_text(text);
    input in;
    read_input(&in, copy);
    const int good = strncmp(call(&in), "{\"error\"", 8) != 0;
    free(copy);
    return good;
}

static void run(const uint8_t *bytes, size_t size) {
    input in;
    read_input(&in, fuzz_text(bytes, size));
    const char *answer = call(&in);
    fuzz_check(fuzz_is_json(answer), "this is no JSON: %s", answer);
    if (strncmp(answer, "{\"error\"", 8) != 0) fuzz_passed();
}

static void seeds(void) {
    FUZZ_SEED_TEXTS("dot\n1\nbinary16\n\n\n\n0.5 2^-12\n1 1\n-3*2^-7 0x1.8p1", "random\n8\n20\n3", "terms\nh100-fp16",
                    "terms\na100-bf16", "format\ne4m3", "format\nq4.12:wrap",
                    "data\n1\n2\n3\n150\nbinary16\n0.1 0.2, 1e-30;5\n-2^-14 inf nan",
                    "generate\nlognormal\n100\n-20\n4\n1", "generate\nnormal\n50\n3\n0\n2", "line\ne4m3\n-2\n2\n1000",
                    "around\nbf16\n0.1\n12", "round\nfp16\nsr\nsat\n8\n1\n4", "coin\ne4m3\nsra\n8\n0.3",
                    "code\nfp16\n3c00", "code\ne4m3\n0x7f", "number\nfp16\n0.1\nrne\ndefault\n8",
                    "number\nposit16\n2^-14\nsrc\nsat\n4", "finite\n0.5\n-1\n1", "sides\nfp16, bf16 e4m3\n0.1\nrz",
                    "sum\n100\n0.01\n1\n1\nstagnation binary16 rne none",
                    "sum\n0\n1\n2\n8\nharmonic bfloat16 rne kahan", "sum\n0\n1\n2\n8\ncounting e4m3 sr none",
                    "terms\nserial:fp16:rne", "inputs", "lists", "cures");
}

const fuzz_target fuzz_target_pages = {FUZZ_TEXT("pages", 400, 1 << 20, 64)};
