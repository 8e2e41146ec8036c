// kept.cu - knowledge of operands: codes of arrays that do not change, and the answer to whether they have codes.
#include "kept.h"
#include "operations.h"

#include <pthread.h>
#include <stdlib.h>

namespace {

/* What was derived from a part of a kept array. */
struct form {
    form *next;
    const float *x;
    ulp_native_array array;
    ulp_format format;
    unsigned char *codes; /* NULL: the elements are values of the format, which is all that is known */
};

struct range {
    range *next;
    const float *x;
    size_t n;
    form *forms;
};

pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
range *ranges;
uint32_t *common; /* the word of deferred answers; NULL before the first one */
bool is_asked;    /* whether a deferred question waits for ulp_cuda_settle */

void drop_forms(range *r) {
    while (r->forms != NULL) {
        form *f = r->forms;
        r->forms = f->next;
        ulp_cuda_release(f->codes);
        free(f);
    }
}

/* After a failure or a bad answer nothing that was derived is trusted. */
void drop_all_forms(void) {
    for (range *r = ranges; r != NULL; r = r->next) drop_forms(r);
}

range *range_of(const float *x) {
    for (range *r = ranges; r != NULL; r = r->next)
        if (x >= r->x && x < r->x + r->n) return r;
    return NULL;
}

bool same_array(const ulp_native_array &x, const ulp_native_array &y) {
    return x.rows == y.rows && x.width == y.width && x.row == y.row && x.column == y.column &&
           x.all_rows == y.all_rows && x.pitch == y.pitch && x.in_16_bytes == y.in_16_bytes && x.minus == y.minus &&
           x.slabs == y.slabs;
}

ulp_kept look_up(unsigned char **codes, range *r, const float *x, const ulp_native_array *array,
                 const ulp_format *format) {
    for (form *f = r->forms; f != NULL; f = f->next)
        if (f->x == x && same_array(f->array, *array) && ulp_format_equal(&f->format, format)) {
            *codes = f->codes;
            return ULP_KEPT_OLD;
        }
    const size_t bytes = array->all_rows * array->pitch;
    form *f = static_cast<form *>(calloc(1, sizeof *f));
    unsigned char *room = f == NULL || bytes == 0 ? NULL : static_cast<unsigned char *>(ulp_cuda_room(bytes));
    if (f == NULL || (bytes > 0 && room == NULL)) {
        free(f);
        return ULP_KEPT_NOT;
    }
    f->x = x;
    f->array = *array;
    f->format = *format;
    f->codes = *codes = room;
    f->next = r->forms;
    r->forms = f;
    return ULP_KEPT_NEW;
}

} // namespace

/* ---- whether the elements of operands are values of their formats ---- */

ulp_status ulp_cuda_question_begin(ulp_cuda_question *q, bool deferred) {
    ulp_status status = ULP_OK;
    q->deferred = deferred;
    pthread_mutex_lock(&lock);
    is_asked |= deferred;
    q->found = deferred ? common : NULL;
    if (q->found == NULL) {
        q->found = static_cast<uint32_t *>(ulp_cuda_room(sizeof *q->found));
        status = q->found == NULL ? ULP_NO_MEMORY : ulp_cuda_zero(q->found, sizeof *q->found);
        if (deferred && status == ULP_OK) common = q->found;
    }
    pthread_mutex_unlock(&lock);
    return status;
}

ulp_status ulp_cuda_question_end(ulp_cuda_question *q, ulp_status status) {
    uint32_t found = 0;
    if (!q->deferred) {
        if (status == ULP_OK) status = ulp_cuda_download(&found, q->found, sizeof found);
        ulp_cuda_release(q->found);
        if (status == ULP_OK && found) status = ULP_NO_CODE;
    }
    pthread_mutex_lock(&lock);
    if (status != ULP_OK) drop_all_forms();
    pthread_mutex_unlock(&lock);
    return status;
}

ulp_status ulp_cuda_settle(void) {
    uint32_t found = 0;
    pthread_mutex_lock(&lock);
    ulp_status status = is_asked && common != NULL ? ulp_cuda_download(&found, common, sizeof found) : ULP_OK;
    is_asked = false;
    if (status == ULP_OK && found) status = ulp_cuda_zero(common, sizeof *common);
    if (status == ULP_OK && found) status = ULP_NO_CODE;
    if (status != ULP_OK) drop_all_forms();
    pthread_mutex_unlock(&lock);
    return status;
}

/* ---- kept arrays ---- */

ulp_status ulp_cuda_keep(const float *x, size_t n) {
    if (n == 0) return ULP_OK;
    ulp_cuda_forget(x, n);
    range *r = static_cast<range *>(calloc(1, sizeof *r));
    if (r == NULL) return ULP_NO_MEMORY;
    pthread_mutex_lock(&lock);
    r->x = x;
    r->n = n;
    r->next = ranges;
    ranges = r;
    pthread_mutex_unlock(&lock);
    return ULP_OK;
}

void ulp_cuda_forget(const float *x, size_t n) {
    range *gone = NULL;
    pthread_mutex_lock(&lock);
    for (range **at = &ranges; *at != NULL;) {
        range *r = *at;
        if (x >= r->x + r->n || r->x >= x + n) {
            at = &r->next;
            continue;
        }
        *at = r->next;
        r->next = gone;
        gone = r;
    }
    pthread_mutex_unlock(&lock);
    while (gone != NULL) {
        range *r = gone;
        gone = r->next;
        drop_forms(r);
        free(r);
    }
}

void ulp_cuda_release_array(void *memory) {
    ulp_cuda_forget(static_cast<const float *>(memory), ulp_cuda_room_of(memory) / sizeof(float));
    ulp_cuda_release(memory);
}

ulp_kept ulp_cuda_kept_codes(unsigned char **codes, const float *x, const ulp_native_array *array,
                             const ulp_format *format) {
    pthread_mutex_lock(&lock);
    range *r = range_of(x);
    const ulp_kept kept = r == NULL ? ULP_KEPT_NOT : look_up(codes, r, x, array, format);
    pthread_mutex_unlock(&lock);
    return kept;
}
