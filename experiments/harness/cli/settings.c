/* settings.c - what the options' texts mean: numbers, formats, modes, datapaths, and the header lines they make. */
#include "experiments/harness/run.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/harness/claims/conditions.h"
#include "experiments/harness/claims/spread.h"

static const char *const nan_names[] = {"none", "ieee", "all-ones", "negative-zero"};

/* The next item of a list separated by commas, copied to `item`; 0 at the end, -1 if empty or too long. */
static int next_item(char *item, size_t size, const char **at) {
    if (!*at) return 0;
    size_t length = strcspn(*at, ",");
    const char *from = *at;
    *at = from[length] ? from + length + 1 : NULL;
    if (length == 0 || length >= size) return -1;
    memcpy(item, from, length);
    item[length] = '\0';
    return 1;
}

static int bad_item(const ulp_run *run, const ulp_setting *s) {
    return ulp_usage_error(run, "--%s '%s': an item is empty or too long; items are separated by single commas",
                           s->option->name, s->value);
}

static int read_number(const ulp_run *run, const ulp_setting *s, const char *text, double *number) {
    char *end;
    *number = strtod(text, &end);
    const ulp_option *o = s->option;
    int whole = o->type == ULP_OPTION_INTEGER || o->type == ULP_OPTION_INTEGERS;
    if (end == text || *end || strspn(text, " \t") > 0)
        return ulp_usage_error(run, "--%s '%s': not a number", o->name, text);
    if (!isfinite(*number)) return ulp_usage_error(run, "--%s %s: has to be a finite number", o->name, text);
    if (whole && (*number != nearbyint(*number) || fabs(*number) > 0x1p53))
        return ulp_usage_error(run, "--%s %s: has to be a whole number of at most 2^53", o->name, text);
    if ((o->min != 0 || o->max != 0) && (*number < o->min || *number > o->max))
        return ulp_usage_error(
            run, whole ? "--%s %s: has to be from %.0f to %.0f" : "--%s %s: has to be from %.15g to %.15g", o->name,
            text, o->min, o->max);
    return -1;
}

/* A number that is in a list twice would make two points of one name. */
static int refuse_twins(const ulp_run *run, const ulp_setting *s) {
    int status = -1;
    if (s->number_count == 0) return status;
    double *sorted = ulp_grow(NULL, s->number_count * sizeof *sorted);
    memcpy(sorted, s->numbers, s->number_count * sizeof *sorted);
    ulp_sort_numbers(sorted, s->number_count);
    for (size_t i = 1; i < s->number_count && status < 0; i++)
        if (sorted[i] == sorted[i - 1])
            status = ulp_usage_error(run, "--%s '%s': %.15g is there twice", s->option->name, s->value, sorted[i]);
    free(sorted);
    return status;
}

/* An item of a list of numbers: x, or a..b for a, a + 1, ..., b. */
static int read_numbers(ulp_run *run, ulp_setting *s) {
    char item[64];
    const char *at = s->value;
    size_t room = 0;
    int more;
    while ((more = next_item(item, sizeof item, &at)) > 0) {
        char *dots = strstr(item, "..");
        double first, last;
        if (dots) *dots = '\0';
        int status = read_number(run, s, item, &first);
        last = first;
        if (status < 0 && dots) status = read_number(run, s, dots + 2, &last);
        if (status >= 0) return status;
        if (last < first || last - first > 1e6)
            return ulp_usage_error(run, "--%s '%s': the range is empty or too long", s->option->name, s->value);
        for (double x = first; x <= last; x += 1.0) {
            s->numbers = ulp_room_for(s->numbers, s->number_count, &room, sizeof *s->numbers);
            s->numbers[s->number_count++] = x;
        }
    }
    return more < 0 ? bad_item(run, s) : refuse_twins(run, s);
}

static int unknown_word(const ulp_run *run, const char *option, const char *word, const char *what, const char *known,
                        const char *more) {
    char near_word[48];
    int near_one = ulp_suggest(near_word, sizeof near_word, word, known);
    return ulp_usage_error(run, "--%s: no %s '%s'%s%s%s\nknown: %s%s", option, what, word,
                           near_one ? "; did you mean '" : "", near_one ? near_word : "", near_one ? "'?" : "", known,
                           more);
}

static int read_choices(const ulp_run *run, ulp_setting *s) {
    char item[64];
    const char *at = s->value;
    int more;
    if (s->option->type == ULP_OPTION_CHOICES && strcmp(s->value, "all") == 0) return -1;
    if (s->option->type == ULP_OPTION_CHOICE)
        return ulp_list_has(s->option->words, s->value)
                   ? -1
                   : unknown_word(run, s->option->name, s->value, "choice", s->option->words, "");
    while ((more = next_item(item, sizeof item, &at)) > 0)
        if (!ulp_list_has(s->option->words, item))
            return unknown_word(run, s->option->name, item, "choice", s->option->words, ", or all");
    return more < 0 ? bad_item(run, s) : -1;
}

static int unknown_format(const ulp_run *run, const char *name, ulp_status why) {
    ulp_text known = {0};
    const ulp_format_row *row;
    for (size_t i = 0; ulp_format_get(i, NULL, &row) == ULP_OK; i++) {
        ulp_text_print(&known, "%s%s", i ? " " : "", row->name);
        if (row->aliases[0]) ulp_text_print(&known, " %s", row->aliases);
    }
    int status = why == ULP_NOT_IN_RANGE ? ulp_usage_error(run, "--formats %s: %s", name, ulp_status_text(why))
                                         : unknown_word(run, "formats", name, "format", ulp_text_of(&known),
                                                        "; any eXmY, qI.F; with :nosub :sat :inf :nan :wrap");
    ulp_text_free(&known);
    return status;
}

static int read_formats(ulp_run *run, ulp_setting *s) {
    int (*takes)(const ulp_format *) = run->experiment->takes_format;
    char item[ULP_NAME_MAX];
    const char *at = s->value;
    size_t room = 0;
    int more;
    if (strcmp(s->value, "all") == 0) {
        run->formats = ulp_grow(NULL, ulp_format_count * sizeof *run->formats);
        for (size_t i = 0; i < ulp_format_count; i++) {
            ulp_format *next = &run->formats[run->format_count];
            if (ulp_format_get(i, next, NULL) == ULP_OK && (!takes || takes(next))) run->format_count++;
        }
        return -1;
    }
    while ((more = next_item(item, sizeof item, &at)) > 0) {
        run->formats = ulp_room_for(run->formats, run->format_count, &room, sizeof *run->formats);
        ulp_status status = ulp_format_parse(&run->formats[run->format_count], item);
        if (status != ULP_OK) return unknown_format(run, item, status);
        if (takes && !takes(&run->formats[run->format_count]))
            return ulp_usage_error(run, "--formats %s: %s", run->formats[run->format_count].name,
                                   run->experiment->format_wants);
        for (size_t i = 0; i < run->format_count; i++)
            if (strcmp(run->formats[i].name, run->formats[run->format_count].name) == 0)
                return ulp_usage_error(run, "--formats '%s': %s is there twice", s->value, run->formats[i].name);
        run->format_count++;
    }
    return more < 0 ? bad_item(run, s) : -1;
}

/* A mode, with the number of random bits after a slash. */
static int read_mode(const ulp_run *run, const char *item, ulp_named_rule *rule) {
    char name[16], *end = NULL;
    const char *slash = strchr(item, '/');
    ulp_mode mode;
    ulp_text known = {0};
    snprintf(name, sizeof name, "%.*s", (int)strcspn(item, "/"), item);
    if (ulp_mode_parse(&mode, name) != ULP_OK) {
        for (int m = 0; m < ULP_MODE_COUNT; m++)
            ulp_text_print(&known, "%s%s", m ? " " : "", ulp_mode_name((ulp_mode)m));
        int status = unknown_word(run, "modes", item, "mode", ulp_text_of(&known),
                                  " sr (= sra), sr/R with R random bits; or all");
        ulp_text_free(&known);
        return status;
    }
    long bits = slash ? strtol(slash + 1, &end, 10) : 0;
    if (slash && (!ulp_mode_is_stochastic((uint32_t)mode) || *end || end == slash + 1 || bits < 1 || bits > 32))
        return ulp_usage_error(run, "--modes %s: random bits are 1 to 32, of sra, srb and src only", item);
    rule->rule = (ulp_rule){.mode = (uint8_t)mode, .random_bits = (uint8_t)bits};
    if (slash) snprintf(rule->name, sizeof rule->name, "%s/%ld", ulp_mode_name(mode), bits);
    else snprintf(rule->name, sizeof rule->name, "%s", ulp_mode_name(mode));
    return -1;
}

static int read_modes(ulp_run *run, ulp_setting *s) {
    char item[16];
    const char *at = strcmp(s->value, "all") == 0 ? "rne,rna,rz,ru,rd,ro,sra,srb,src" : s->value;
    size_t room = 0;
    int more;
    while ((more = next_item(item, sizeof item, &at)) > 0) {
        run->modes = ulp_room_for(run->modes, run->mode_count, &room, sizeof *run->modes);
        int status = read_mode(run, item, &run->modes[run->mode_count]);
        if (status >= 0) return status;
        for (size_t i = 0; i < run->mode_count; i++)
            if (strcmp(run->modes[i].name, run->modes[run->mode_count].name) == 0)
                return ulp_usage_error(run, "--modes '%s': %s is there twice", s->value, run->modes[i].name);
        run->mode_count++;
    }
    return more < 0 ? bad_item(run, s) : -1;
}

static int unknown_datapath(const ulp_run *run, const char *name, ulp_status status) {
    char why[ULP_EXPLAIN_MAX];
    ulp_datapath_explain(why, name);
    return ulp_usage_error(run, "--datapath %s: %s%s%s\nknown:\n%s", name, ulp_status_text(status), why[0] ? "; " : "",
                           why, ulp_datapath_names());
}

static int read_datapaths(ulp_run *run, ulp_setting *s) {
    char item[ULP_DATAPATH_NAME_MAX];
    const char *at = s->value;
    size_t room = 0;
    int more;
    while ((more = next_item(item, sizeof item, &at)) > 0) {
        run->datapaths = ulp_room_for(run->datapaths, run->datapath_count, &room, sizeof *run->datapaths);
        ulp_status status = ulp_datapath_parse(&run->datapaths[run->datapath_count], item);
        if (status != ULP_OK) return unknown_datapath(run, item, status);
        for (size_t i = 0; i < run->datapath_count; i++)
            if (strcmp(run->datapaths[i].name, run->datapaths[run->datapath_count].name) == 0)
                return ulp_usage_error(run, "--datapath '%s': %s is there twice", s->value, run->datapaths[i].name);
        run->datapath_count++;
    }
    return more < 0 ? bad_item(run, s) : -1;
}

/* ULPLAB_ISA keeps the CPU from being there. */
static int refuse_isa(const ulp_run *run, ulp_status why) {
    const char *isa = getenv("ULPLAB_ISA"), *known;
    ulp_text offered = {0};
    for (size_t i = 0; (known = ulp_cpu_isa_name(i)) != NULL; i++)
        if (ulp_cpu_isa_offered(i)) ulp_text_print(&offered, " %s", known);
    int code = ulp_usage_error(run, "backend cpu with ULPLAB_ISA=%s: %s; instruction sets here:%s", isa ? isa : "",
                               ulp_status_text(why), ulp_text_of(&offered));
    ulp_text_free(&offered);
    return why == ULP_NO_DEVICE ? ULP_EXIT_LACKING : code;
}

static int read_backend(ulp_run *run, const char *name) {
    ulp_status status = ulp_backend_get(&run->backend, name);
    if (status == ULP_OK) return -1;
    if (!name || strcmp(name, "cpu") == 0) return refuse_isa(run, status);
    if (status == ULP_BAD_NAME)
        return ulp_usage_error(run, "--backend: no backend '%s'; known: %s", name, ulp_backend_names());
    const int usage = ulp_usage_error(run, "--backend %s: %s", name, ulp_backend_lacks(name));
    return status == ULP_NO_DEVICE ? ULP_EXIT_LACKING : usage;
}

static int read_shard(ulp_run *run, const char *text) {
    char tail;
    if (!*text) return -1;
    if (sscanf(text, "%zu/%zu%c", &run->shard, &run->shards, &tail) != 2 || run->shards < 1 ||
        run->shard >= run->shards || strspn(text, "0123456789/") != strlen(text))
        return ulp_usage_error(run, "--shard '%s': has to be I/N with 0 <= I < N", text);
    return -1;
}

static int resolve(ulp_run *run, ulp_setting *s) {
    int status = -1;
    switch (s->option->type) {
    case ULP_OPTION_INTEGER:
    case ULP_OPTION_NUMBER:
        status = read_number(run, s, s->value, &s->number);
        if (s->option->type == ULP_OPTION_INTEGER && status < 0) s->integer = (int64_t)s->number;
        return status;
    case ULP_OPTION_NUMBERS:
    case ULP_OPTION_INTEGERS: return read_numbers(run, s);
    case ULP_OPTION_CHOICE:
    case ULP_OPTION_CHOICES: return read_choices(run, s);
    case ULP_OPTION_FORMATS: return read_formats(run, s);
    case ULP_OPTION_MODES: return read_modes(run, s);
    case ULP_OPTION_DATAPATHS: return read_datapaths(run, s);
    case ULP_OPTION_BACKEND: return read_backend(run, s->value);
    case ULP_OPTION_TEXT:
        if (strcmp(s->option->name, "data") == 0 && s->given && !s->value[0])
            return ulp_usage_error(run, "--data: the folder's name is empty");
        if (strcmp(s->option->name, "out") == 0 && s->given && !s->value[0])
            return ulp_usage_error(run, "--out: the file's name is empty");
        if (!strpbrk(s->value, "\r\n")) return -1;
        return ulp_usage_error(run, "--%s: a line break in the value", s->option->name);
    case ULP_OPTION_FLAG: break;
    }
    return -1;
}

int ulp_settings_resolve(ulp_run *run) {
    for (size_t i = 0; i < run->setting_count; i++) {
        int status = resolve(run, &run->settings[i]);
        if (status >= 0) return status;
    }
    if (!run->backend) {
        int status = read_backend(run, NULL);
        if (status >= 0) return status;
    }
    return read_shard(run, ulp_option_text(run, "shard"));
}

static void header_format(ulp_text *to, const ulp_format *f) {
    ulp_text_print(
        to,
        "# format %s: bits=%d p=%d bias=%d emin=%d emax=%d max=%.17g lowest=%.17g min_normal=%.17g min_positive=%.17g",
        f->name, f->bits, f->prec, f->bias, f->emin, f->emax, f->max, f->lowest, f->min_normal, f->min_positive);
    ulp_text_print(to, " signed=%d fixed=%d inf=%d nan=%s negative_zero=%d subnormals=%d overflow=%s\n", f->is_signed,
                   f->is_fixed, f->has_inf, nan_names[f->nan_codes], f->has_neg_zero, f->has_subnormals,
                   ulp_overflow_name((ulp_overflow)f->overflow));
}

static void header_setting(ulp_run *run, const ulp_setting *s) {
    ulp_text *to = &run->header;
    ulp_text_print(to, "# %s:", s->option->name);
    switch (s->option->type) {
    case ULP_OPTION_INTEGER: ulp_text_print(to, " %lld", (long long)s->integer); break;
    case ULP_OPTION_NUMBER: ulp_text_print(to, " %.17g", s->number); break;
    case ULP_OPTION_NUMBERS:
    case ULP_OPTION_INTEGERS:
        for (size_t i = 0; i < s->number_count; i++) ulp_text_print(to, "%s%.17g", i ? "," : " ", s->numbers[i]);
        break;
    case ULP_OPTION_FORMATS:
        for (size_t i = 0; i < run->format_count; i++) ulp_text_print(to, "%s%s", i ? "," : " ", run->formats[i].name);
        break;
    case ULP_OPTION_MODES:
        for (size_t i = 0; i < run->mode_count; i++) ulp_text_print(to, "%s%s", i ? "," : " ", run->modes[i].name);
        break;
    case ULP_OPTION_DATAPATHS:
        for (size_t i = 0; i < run->datapath_count; i++)
            ulp_text_print(to, "%s%s", i ? "," : " ", run->datapaths[i].name);
        break;
    case ULP_OPTION_FLAG: ulp_text_print(to, " %s", s->given ? "yes" : "no"); break;
    default: ulp_text_print(to, " %s", s->value); break;
    }
    ulp_text_print(to, "\n");
}

void ulp_settings_header(ulp_run *run) {
    ulp_text_print(&run->header, "# experiment: %s\n# version: %s\n", run->experiment->name, ulp_build_version());
    for (size_t i = 0; i < run->setting_count; i++) {
        const ulp_setting *s = &run->settings[i];
        if (s->option->silent) continue;
        header_setting(run, s);
        if (strcmp(s->option->name, "seed") == 0)
            ulp_text_print(&run->header, "# generator: %s\n# generator layout: %d\n", ULP_RNG_NAME, ULP_RNG_LAYOUT);
    }
    for (size_t i = 0; i < run->format_count; i++) header_format(&run->header, &run->formats[i]);
}
