/* queue.h - work of a thread of the emulated device that is not finished, in groups: instructions, or copies. */
#ifndef ULP_EMULATED_QUEUE_H
#define ULP_EMULATED_QUEUE_H

#include "cuda_runtime.h"

#include <vector>

/* An item has `group`, which is 0 until it is committed. */
template <typename T> struct queue {
    std::vector<T> list;
    unsigned groups; /* that are committed and not finished */

    void commit() {
        groups++;
        for (T &item : list)
            if (item.group == 0) item.group = groups;
    }
    /* Calls finish for the items of all groups but the latest `left`. */
    template <typename F> void wait(unsigned left, F finish) {
        const unsigned over = groups > left ? groups - left : 0;
        std::vector<T> rest;
        for (T item : list) {
            if (item.group != 0 && item.group <= over) {
                finish(item);
                continue;
            }
            if (item.group != 0) item.group -= over;
            rest.push_back(item);
        }
        list = rest;
        groups -= over;
    }
};

/* A GPU may read and copy at once or as late as the wait: even warps do it at once, odd warps at the wait. */
static inline bool is_early() { return threadIdx.x / 32 % 2 == 0; }

#endif
