/* lesson.c - loads and releases the data set and the network of an experiment; see lesson.h. */
#include "lesson.h"

#include "options.h"

ulp_status ulp_lesson_load(ulp_plan *plan, ulp_lesson *lesson, const ulp_set *set, const char *net) {
    const ulp_status status = ulp_set_load(plan, &lesson->data, set);
    return status == ULP_OK ? ulp_plan_read_net(plan, &lesson->net, net, lesson->data.dims) : status;
}

void ulp_lesson_release(void *own) {
    ulp_lesson *lesson = own;
    ulp_net_release(&lesson->net);
    ulp_data_release(&lesson->data);
}
