/* lesson.h - a data set and the one network that learns it; all points of an experiment share them.
 *
 *     typedef struct context {
 *         ulp_lesson lesson; // first
 *         ...
 *     } context;
 *
 *     plan: status = ulp_lesson_load(plan, &context->lesson, &(ulp_set){s->set, s->data, s->seed}, s->net);
 *
 * If the context owns nothing else, the experiment has ulp_lesson_release as its `release`.
 */
#ifndef ULP_TRAINING_LESSON_H
#define ULP_TRAINING_LESSON_H

#include "set.h"
#include "sim/net.h"

typedef struct ulp_lesson {
    ulp_data data;
    ulp_net net;
} ulp_lesson;

/* Loads the set, adds the header line "data", and reads the text of the network. A failure is reported in a sentence.
 * The caller calls ulp_lesson_release() after success and after failure. */
ulp_status ulp_lesson_load(ulp_plan *plan, ulp_lesson *lesson, const ulp_set *set, const char *net);
void ulp_lesson_release(void *lesson); /* a ulp_lesson, or a struct that begins with one */

#endif
