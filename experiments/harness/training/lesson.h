/* lesson.h - a data set and the one network that learns it, which all points of an experiment share.
 *
 *     typedef struct context {
 *         ulp_lesson lesson; // first
 *         ...
 *     } context;
 *
 *     plan: status = ulp_lesson_load(plan, &context->lesson, &(ulp_set){s->set, s->data, s->seed}, s->net);
 *
 * Such an experiment has ulp_lesson_release as its `release` if the context owns nothing else.
 */
#ifndef ULP_TRAINING_LESSON_H
#define ULP_TRAINING_LESSON_H

#include "set.h"
#include "sim/net.h"

typedef struct ulp_lesson {
    ulp_data data;
    ulp_net net;
} ulp_lesson;

/* Loads the set, adds the header line "data", and reads the text of the network. Fails with a sentence.
 * ulp_lesson_release() in either case. */
ulp_status ulp_lesson_load(ulp_plan *plan, ulp_lesson *lesson, const ulp_set *set, const char *net);
void ulp_lesson_release(void *lesson); /* a ulp_lesson, or a struct that begins with one */

#endif
