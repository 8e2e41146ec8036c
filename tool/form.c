/* form.c - the options that name a form of input, some forms with the format of codes: text, npy, npy:e4m3. */
#include "tool.h"

#include "experiments/harness/cli/types.h"

/* Word i of the option without what says that a format follows: ":F" or "[:F]". Sets whether it may, and whether it has
 * to. */
static const char *form_of(char word[64], const ulp_option *o, size_t i, int *may, int *must) {
    snprintf(word, 64, "%s", ulp_word_of(o->words, i).text);
    *must = strstr(word, "[:F]") == NULL && strstr(word, ":F") != NULL;
    *may = strstr(word, ":F") != NULL;
    word[strcspn(word, ":[")] = '\0';
    return word;
}

static ulp_status read_form(void *field, const char *text, const ulp_option *o, ulp_error *error) {
    const ulp_option format = {.name = o->name};
    const char *const colon = strchr(text, ':');
    const size_t length = strcspn(text, ":");
    char word[64];
    int may, must;
    tool_form form = {0};
    for (size_t i = 0; *form_of(word, o, i, &may, &must); i++) {
        if (strlen(word) != length || strncmp(word, text, length) != 0) continue;
        form.form = (int)i;
        form.has_codes = colon != NULL;
        if (colon == NULL && must)
            return ulp_refuse(error, "%s: the format of the codes is needed, as in %s:e4m3", text, text);
        if (colon != NULL && !may) return ulp_refuse(error, "%s: %s takes no format", text, word);
        if (colon != NULL) ULP_TRY(ulp_type_format.read(&form.codes, colon + 1, &format, error));
        *(tool_form *)field = form;
        return ULP_OK;
    }
    return ulp_refuse_word(error, "choice", text, o->words, "");
}

static void print_form(ulp_text *to, const void *field, const ulp_option *o) {
    const tool_form *const form = field;
    char word[64];
    int may, must;
    ulp_text_print(to, "%s", form_of(word, o, (size_t)form->form, &may, &must));
    if (form->has_codes) ulp_text_print(to, ":%s", form->codes.name);
}

const ulp_option_type tool_type_form = {
    .value_name = "FORM", .size = sizeof(tool_form), .read = read_form, .print = print_form, .topic = "formats"};
