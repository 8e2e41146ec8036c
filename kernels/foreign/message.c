/* message.c - the last text of a thread: the sentence about a failure, or an answer; objects, backends by name. */
#include "message.h"

#include "base/near_words.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

static _Thread_local char text_of_thread[ULP_EXPLAIN_MAX + 200];

const char *ulp_foreign_error(void) { return text_of_thread; }

void ulp_foreign_release(void *object) { free(object); }

ulp_status ulp_foreign_fail(ulp_status status, const char *sentence, ...) {
    va_list arguments;
    va_start(arguments, sentence);
    vsnprintf(text_of_thread, sizeof text_of_thread, sentence, arguments);
    va_end(arguments);
    return status;
}

ulp_status ulp_foreign_status(ulp_status status, const ulp_backend *backend, const char *what) {
    ulp_error why = {0};
    if (status == ULP_OK) return status;
    /* of other statuses the device says nothing: its report would be that of an earlier failure */
    const int of_device = status == ULP_UNSUPPORTED || status == ULP_NO_DEVICE || status == ULP_DEVICE_FAILED;
    if (backend != NULL && of_device) ulp_backend_explain(&why, backend, status);
    return ulp_foreign_fail(status, "%s: %s", what, why.text[0] != '\0' ? why.text : ulp_status_text(status));
}

ulp_status ulp_foreign_arithmetic(void) {
    const char *fault = ulp_arithmetic_fault();
    return fault == NULL ? ULP_OK : ulp_foreign_fail(ULP_NO_DEVICE, "%s", fault);
}

void ulp_foreign_add_word(ulp_foreign_words *words, const char *word) {
    const size_t room = sizeof words->text - words->used;
    if (word[0] == '\0') return;
    const int length = snprintf(words->text + words->used, room, "%s%s", words->used > 0 ? " " : "", word);
    if (length > 0 && (size_t)length < room) words->used += (size_t)length;
    else words->text[words->used] = '\0';
}

ulp_status ulp_foreign_unknown(const char *kind, const char *word, const char *words) {
    char near[200];
    const int found = ulp_near_words(near, sizeof near, word, words, 3);
    if (found > 0) return ulp_foreign_fail(ULP_BAD_NAME, "no %s '%.64s'; near words: %s", kind, word, near);
    return ulp_foreign_fail(ULP_BAD_NAME, "no %s '%.64s'; there are: %s", kind, word, words);
}

void *ulp_foreign_object(size_t size) {
    void *object = calloc(1, size);
    if (object == NULL) ulp_foreign_fail(ULP_NO_MEMORY, "%s", ulp_status_text(ULP_NO_MEMORY));
    return object;
}

ulp_status ulp_foreign_backend(const ulp_backend **backend, const char *name) {
    const ulp_status status = ulp_backend_get(backend, name);
    if (status == ULP_BAD_NAME) return ulp_foreign_unknown("backend", name, ulp_backend_names());
    if (status == ULP_NO_DEVICE) return ulp_foreign_fail(status, "%s", ulp_backend_lacks(name));
    return ulp_foreign_status(status, NULL, name != NULL ? name : "the default backend");
}
