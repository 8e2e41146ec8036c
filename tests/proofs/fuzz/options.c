/* options.c - command lines of a command that has an option of every type: what is printed of them is read again. */
#include "tests/proofs/fuzz/support/fuzz.h"

#include "tests/unit/toy_command.h"

enum { WORDS_MAX = 60 };

/* Split a line at blanks and line breaks. */
static int split(char *line, char **argv) {
    static char name[] = "toy";
    int argc = 1;
    argv[0] = name;
    for (char *at = line; argc < WORDS_MAX;) {
        at += strspn(at, " \n");
        if (!*at) break;
        argv[argc++] = at;
        at += strcspn(at, " \n");
        if (*at) *at++ = '\0';
    }
    argv[argc] = NULL;
    return argc;
}

static ulp_status read_line(ulp_arguments *a, char *line, char **argv, ulp_error *error) {
    *a = (ulp_arguments){.command = &toy, .groups = groups, .group_count = 2};
    ULP_TRY(ulp_arguments_read(a, split(line, argv), argv, 0, error));
    return a->is_done ? ULP_OK : ulp_arguments_resolve(a, s.flag ? ULP_PRESET_QUICK : ULP_PRESET_DEFAULT, error);
}

static int is_valid(const char *text) {
    char *copy = ulp_copy_text(text), *argv[WORDS_MAX + 1];
    ulp_arguments a;
    ulp_error error;
    const int valid = read_line(&a, copy, argv, &error) == ULP_OK && !a.is_done;
    ulp_arguments_free(&a);
    free(copy);
    return valid;
}

/* The settings as a command line, each with its canonical text. */
static ulp_text canonical(const ulp_arguments *a) {
    ulp_text line = {0};
    for (size_t i = 0; i < a->count; i++) {
        const ulp_setting *one = &a->settings[i];
        const ulp_option *o = one->option;
        ulp_text value = {0};
        o->type->print(&value, one->field, o);
        if (!o->type->value_name) ulp_text_print(&line, "%s", *(int *)one->field ? "--flag\n" : "");
        else if (!o->type->many && value.length) ulp_text_print(&line, "--%s=%s\n", o->name, ulp_text_of(&value));
        ulp_text_free(&value);
    }
    return line;
}

static void run(const uint8_t *data, size_t size) {
    char *text = fuzz_text(data, size), *argv[WORDS_MAX + 1];
    ulp_arguments a;
    toy.takes_words = size % 2 == 1;
    ulp_error error;
    ulp_error_clear(&error);
    const ulp_status status = read_line(&a, text, argv, &error);
    if (status == ULP_OK && !a.is_done) {
        fuzz_passed();
        ulp_text first = canonical(&a), copy = canonical(&a);
        ulp_arguments_free(&a);
        if (first.length < 4000 && !strpbrk(ulp_text_of(&first), " ")) {
            if (read_line(&a, copy.data, argv, &error) != ULP_OK)
                fuzz_check(0, "these settings are refused: %s\n%s", ulp_text_of(&first), error.text);
            ulp_text second = canonical(&a);
            fuzz_check(strcmp(ulp_text_of(&first), ulp_text_of(&second)) == 0, "these settings:\n%sare\n%s",
                       ulp_text_of(&first), ulp_text_of(&second));
            ulp_text_free(&second);
            ulp_arguments_free(&a);
        }
        ulp_text_free(&first);
        ulp_text_free(&copy);
        return;
    }
    if (status != ULP_OK) fuzz_check_status(status, error.text, "a command line");
    ulp_arguments_free(&a);
}

static void seeds(void) {
    FUZZ_SEED_TEXTS(
        "--size 1e3 --scale=-0x1p-3 --list-of 5 --counts -2,0x3 --format half --formats fp16,e5m7 --shape tree",
        "--format e4m3 --parts tail,body --seed 18446744073709551615 --modes sr,rne --mode rz --op fma --overflow sat",
        "--format q8.8 --datapath h100-fp16,fp32 --folder . --merge a b --flag --out x.csv",
        "--format e4m3 --parts tail,body,head --seed 0x1p40 --formats all --modes all", "--help", "--version",
        "--format e4m3 one -1 -inf - --size 4 two -- --size -x", "--format binary16 --backend cpu --list-of 1..3,7.5",
        "--format e5m2:sat --datapath chunk64:fp16:sr/8 --op sqrt --overflow inf --mode srb --counts -9..9");
}

const fuzz_target fuzz_target_options = {FUZZ_TEXT("options", 600, 1 << 20, 1 << 12)};
