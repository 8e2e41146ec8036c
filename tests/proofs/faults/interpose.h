/* interpose.h - declarations for the two sources of the interposed library. */
#ifndef INTERPOSE_H
#define INTERPOSE_H

#include "faults.h"

/* Ways of failing other than an errno. */
enum { FAULT_SHORT = -1, FAULT_KILL_BEFORE = -2, FAULT_KILL_AFTER = -3 };

extern struct fault {
    fault_counts *counts;
    int live; /* 1: main() has begun */
    fault_family family;
    uint64_t at; /* 0: none */
    int how, all;
    const char *root; /* NULL: no call on files counts */
    int log;          /* descriptor; -1: none */
    long clock_step;
    uint64_t clock_at;
    int clock_is_real;
} fault;

int fault_is_due(fault_family family);

/* Let the kernel stop the program at each system call on files. Returns 0 where that is not possible. */
int fault_filter_start(void);

#endif
