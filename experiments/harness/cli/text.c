/* text.c - strings and arrays that grow. */
#include "experiments/harness/run.h"

#include <stdlib.h>
#include <string.h>

void *ulp_grow(void *memory, size_t bytes) {
    void *grown = realloc(memory, bytes ? bytes : 1);
    if (!grown) {
        fprintf(stderr, "out of memory (%zu bytes)\n", bytes);
        exit(ULP_EXIT_FAILED);
    }
    return grown;
}

void *ulp_room_for(void *array, size_t count, size_t *room, size_t size) {
    if (count < *room) return array;
    *room = *room ? 2 * *room : 16;
    return ulp_grow(array, *room * size);
}

char *ulp_copy_text(const char *text) {
    size_t bytes = strlen(text) + 1;
    return memcpy(ulp_grow(NULL, bytes), text, bytes);
}

static void text_reserve(ulp_text *text, size_t more) {
    if (text->length + more + 1 <= text->room) return;
    text->room = 2 * (text->length + more + 1);
    text->data = ulp_grow(text->data, text->room);
}

void ulp_text_add(ulp_text *text, const char *data, size_t length) {
    text_reserve(text, length);
    if (length) memcpy(text->data + text->length, data, length);
    text->length += length;
    text->data[text->length] = '\0';
}

void ulp_text_print_list(ulp_text *text, const char *format, va_list arguments) {
    va_list again;
    va_copy(again, arguments);
    int length = vsnprintf(NULL, 0, format, again);
    va_end(again);
    if (length < 0) return;
    text_reserve(text, (size_t)length);
    vsnprintf(text->data + text->length, (size_t)length + 1, format, arguments);
    text->length += (size_t)length;
}

void ulp_text_print(ulp_text *text, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    ulp_text_print_list(text, format, arguments);
    va_end(arguments);
}

const char *ulp_text_of(const ulp_text *text) { return text->data ? text->data : ""; }

void ulp_text_free(ulp_text *text) {
    free(text->data);
    *text = (ulp_text){0};
}
