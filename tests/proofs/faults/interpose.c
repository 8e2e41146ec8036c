/* interpose.c - a library for LD_PRELOAD that counts calls of a program and lets one of them fail; see faults.h.
 *
 * Memory, threads and clocks are interposed by name. Calls on files are interposed below the C library, where stdio
 * makes them, too: a filter of the kernel (seccomp) turns each of these system calls into the signal SIGSYS, and the
 * handler makes the call itself or fails. The only system call instruction that the filter lets through is that of
 * fault_call().
 */
#define _GNU_SOURCE

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <time.h>

#include "interpose.h"

struct fault fault;
static fault_counts unused;

static const char *const names[] = {FAULT_NAMES};

/* Whether this call of the family, which is counted here, is to fail. */
int fault_is_due(fault_family family) {
    const uint64_t n = __atomic_add_fetch(&fault.counts->calls[family], 1, __ATOMIC_RELAXED);
    if (family != fault.family || (fault.all ? n < fault.at : n != fault.at) || !fault.at) return 0;
    __atomic_add_fetch(&fault.counts->fired, 1, __ATOMIC_RELAXED);
    return 1;
}

/* ---- memory ---- */

extern void *__libc_malloc(size_t);
extern void *__libc_calloc(size_t, size_t);
extern void *__libc_realloc(void *, size_t);
extern void *__libc_memalign(size_t, size_t);

static int memory_fails(void) {
    if (!fault.live || !fault_is_due(FAULT_MEMORY)) return 0;
    errno = ENOMEM;
    return 1;
}

void *malloc(size_t size) { return memory_fails() ? NULL : __libc_malloc(size); }
void *calloc(size_t n, size_t size) { return memory_fails() ? NULL : __libc_calloc(n, size); }
void *realloc(void *at, size_t size) { return memory_fails() ? NULL : __libc_realloc(at, size); }
void *reallocarray(void *at, size_t n, size_t size) {
    size_t bytes;
    if (__builtin_mul_overflow(n, size, &bytes)) return errno = ENOMEM, NULL;
    return realloc(at, bytes);
}
void *memalign(size_t alignment, size_t size) { return memory_fails() ? NULL : __libc_memalign(alignment, size); }
void *aligned_alloc(size_t alignment, size_t size) { return memalign(alignment, size); }
int posix_memalign(void **at, size_t alignment, size_t size) {
    if (memory_fails()) return ENOMEM;
    *at = __libc_memalign(alignment, size);
    return *at ? 0 : ENOMEM;
}

/* ---- threads ---- */

/* The function of the C library that this library stands before. */
static void next_symbol(void *function, const char *name) {
    void *found = dlsym(RTLD_NEXT, name);
    memcpy(function, &found, sizeof found);
}

int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*body)(void *), void *own) {
    static int (*create)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
    if (!create) next_symbol(&create, "pthread_create");
    return fault.live && fault_is_due(FAULT_THREAD) ? EAGAIN : create(thread, attributes, body, own);
}

/* ---- clocks ---- */

/* The seconds by which a clock is ahead. */
static long ahead(int is_real) {
    if (!fault.live) return 0;
    const uint64_t n = __atomic_add_fetch(&fault.counts->clock, 1, __ATOMIC_RELAXED);
    if (!fault.clock_at || n < fault.clock_at || (fault.clock_is_real && !is_real)) return 0;
    __atomic_add_fetch(&fault.counts->fired, 1, __ATOMIC_RELAXED);
    return fault.clock_step;
}

int clock_gettime(clockid_t clock, struct timespec *now) {
    static int (*look)(clockid_t, struct timespec *);
    if (!look) next_symbol(&look, "clock_gettime");
    const int status = look(clock, now);
    if (clock == CLOCK_REALTIME || clock == CLOCK_MONOTONIC) now->tv_sec += ahead(clock == CLOCK_REALTIME);
    return status;
}

time_t time(time_t *at) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    if (at) *at = now.tv_sec;
    return now.tv_sec;
}

/* ---- the start of the program ---- */

static void read_fault(void) {
    const char *at = getenv("FAULT_AT"), *how = getenv("FAULT_HOW");
    const char *colon = at ? strchr(at, ':') : NULL;
    fault.family = FAULT_FAMILIES;
    for (int f = 0; colon && f < FAULT_FAMILIES; f++)
        if (strlen(names[f]) == (size_t)(colon - at) && strncmp(at, names[f], strlen(names[f])) == 0)
            fault.family = (fault_family)f;
    if (colon) fault.at = strtoull(colon + 1, NULL, 10);
    if (how)
        fault.how = strcmp(how, "short") == 0    ? FAULT_SHORT
                    : strcmp(how, "kill") == 0   ? FAULT_KILL_BEFORE
                    : strcmp(how, "killed") == 0 ? FAULT_KILL_AFTER
                                                 : atoi(how);
    fault.all = getenv("FAULT_ALL") != NULL;
}

static void read_clock(void) {
    const char *text = getenv("FAULT_CLOCK");
    char *end;
    if (!text) return;
    fault.clock_is_real = strncmp(text, "real:", 5) == 0;
    fault.clock_step = strtol(text + 5, &end, 10);
    fault.clock_at = strtoull(end + 1, NULL, 10);
}

static int (*true_main)(int, char **, char **);

static int started(int argc, char **argv, char **environment) {
    fault.live = 1;
    return true_main(argc, argv, environment);
}

static void set_up(void) {
    const char *counts = getenv("FAULT_COUNTS"), *log = getenv("FAULT_LOG");
    fault.counts = &unused;
    fault.log = -1;
    const int file = counts ? open(counts, O_RDWR | O_CLOEXEC) : -1;
    if (file < 0) return;
    void *shared = mmap(NULL, sizeof(fault_counts), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (shared == MAP_FAILED) return;
    fault.counts = shared;
    if (log) fault.log = fcntl(open(log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666), F_DUPFD_CLOEXEC, 900);
    fault.root = getenv("FAULT_ROOT");
    read_fault();
    read_clock();
    fault.counts->ready = (uint64_t)fault_filter_start();
}

int __libc_start_main(int (*main_of)(int, char **, char **), int argc, char **argv, void (*init)(void),
                      void (*fini)(void), void (*loader)(void), void *stack) {
    int (*start)(int (*)(int, char **, char **), int, char **, void (*)(void), void (*)(void), void (*)(void), void *);
    next_symbol(&start, "__libc_start_main");
    true_main = main_of;
    set_up();
    return start(started, argc, argv, init, fini, loader, stack);
}
