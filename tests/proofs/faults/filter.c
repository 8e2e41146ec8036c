/* filter.c - the part of the interposed library that stands before system calls on files; see interpose.c. */
#define _GNU_SOURCE
#include "interpose.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/ucontext.h>
#include <unistd.h>

/* fault_call(NUMBER, six arguments) makes a system call and returns what the kernel returns. */
#if defined(__x86_64__)
#define HAS_FILTER 1
__asm__(".text\n.globl fault_call\n.globl fault_call_end\n.type fault_call,@function\nfault_call:\n"
        "mov %rdi,%rax\nmov %rsi,%rdi\nmov %rdx,%rsi\nmov %rcx,%rdx\nmov %r8,%r10\nmov %r9,%r8\nmov 8(%rsp),%r9\n"
        "syscall\nret\nfault_call_end:\n");
#define ARGUMENT(c, i)                                                                                                 \
    ((long)(c)->uc_mcontext.gregs[((const int[]){REG_RDI, REG_RSI, REG_RDX, REG_R10, REG_R8, REG_R9})[i]])
#define SET_RESULT(c, to) ((c)->uc_mcontext.gregs[REG_RAX] = (to))
#elif defined(__aarch64__)
#define HAS_FILTER 1
__asm__(".text\n.globl fault_call\n.globl fault_call_end\n.type fault_call,%function\nfault_call:\n"
        "mov x8,x0\nmov x0,x1\nmov x1,x2\nmov x2,x3\nmov x3,x4\nmov x4,x5\nmov x5,x6\n"
        "svc #0\nret\nfault_call_end:\n");
#define ARGUMENT(c, i) ((long)(c)->uc_mcontext.regs[i])
#define SET_RESULT(c, to) ((c)->uc_mcontext.regs[0] = (unsigned long)(to))
#else
#define HAS_FILTER 0
#endif

#if HAS_FILTER

long fault_call(long number, long a, long b, long c, long d, long e, long f);
extern const char fault_call_end[];

#define CALL(number, a, b, c) fault_call(number, (long)(a), (long)(b), (long)(c), 0, 0, 0)

/* ---- which calls count ---- */

static const int trapped[] = {SYS_openat,    SYS_read,      SYS_pread64, SYS_write,    SYS_pwrite64, SYS_fsync,
                              SYS_fdatasync, SYS_renameat2, SYS_linkat,  SYS_unlinkat, SYS_close,    SYS_ftruncate,
                              SYS_mkdirat,
#if defined(SYS_open)
                              SYS_open,      SYS_creat,     SYS_rename,  SYS_link,     SYS_unlink,   SYS_mkdir,
#endif
#if defined(SYS_renameat)
                              SYS_renameat
#endif
};
enum { TRAPPED = sizeof trapped / sizeof trapped[0] };

static int is_in_root(const char *path) {
    const size_t n = strlen(fault.root);
    return path[0] != '/' || (strncmp(path, fault.root, n) == 0 && (path[n] == '/' || path[n] == '\0'));
}

/* Whether a descriptor is of a file or a folder in the root; *writes: whether it is open for writing. */
static int is_ours(long file, int *writes) {
    char link[40], path[4096];
    snprintf(link, sizeof link, "/proc/self/fd/%ld", file);
    const long n = fault_call(SYS_readlinkat, AT_FDCWD, (long)link, (long)path, sizeof path - 1, 0, 0);
    if (n <= 0) return 0;
    path[n] = '\0';
    const long flags = CALL(SYS_fcntl, file, F_GETFL, 0);
    *writes = flags >= 0 && (flags & O_ACCMODE) != O_RDONLY;
    return path[0] == '/' && is_in_root(path);
}

static fault_family family_of_open(const char *path, long flags) {
    if (!is_in_root(path)) return FAULT_FAMILIES;
    return (flags & O_ACCMODE) == O_RDONLY ? FAULT_OPEN : FAULT_CREATE;
}

static fault_family family_of_descriptor(long number, long file) {
    int writes = 0;
    const int is_read = number == SYS_read || number == SYS_pread64;
    if (file == STDERR_FILENO || file == fault.log) return FAULT_FAMILIES;
    if (file == STDOUT_FILENO) return number == SYS_write ? FAULT_STDOUT : FAULT_FAMILIES;
    if (!is_ours(file, &writes)) return FAULT_FAMILIES;
    if (is_read) return FAULT_READ;
    if (number == SYS_fsync || number == SYS_fdatasync) return FAULT_SYNC;
    if (number == SYS_close) return writes ? FAULT_CLOSE : FAULT_FAMILIES;
    return number == SYS_ftruncate ? FAULT_CUT : FAULT_WRITE;
}

static fault_family family_of(long number, const ucontext_t *c) {
    switch (number) {
    case SYS_openat: return family_of_open((const char *)ARGUMENT(c, 1), ARGUMENT(c, 2));
    case SYS_renameat2: return FAULT_RENAME;
    case SYS_linkat: return FAULT_LINK;
    case SYS_unlinkat: return is_in_root((const char *)ARGUMENT(c, 1)) ? FAULT_REMOVE : FAULT_FAMILIES;
    case SYS_mkdirat: return FAULT_FOLDER;
#if defined(SYS_open)
    case SYS_open: return family_of_open((const char *)ARGUMENT(c, 0), ARGUMENT(c, 1));
    case SYS_creat: return is_in_root((const char *)ARGUMENT(c, 0)) ? FAULT_CREATE : FAULT_FAMILIES;
    case SYS_rename: return FAULT_RENAME;
    case SYS_link: return FAULT_LINK;
    case SYS_unlink: return is_in_root((const char *)ARGUMENT(c, 0)) ? FAULT_REMOVE : FAULT_FAMILIES;
    case SYS_mkdir: return FAULT_FOLDER;
#endif
#if defined(SYS_renameat)
    case SYS_renameat: return FAULT_RENAME;
#endif
    default: return family_of_descriptor(number, ARGUMENT(c, 0));
    }
}

/* ---- the log ---- */

/* A line: the family, the inode of an open file or 0, its size, and two paths. */
static void note(fault_family family, long number, const ucontext_t *c, long result) {
    static const char *const words[] = {FAULT_NAMES};
    struct stat about = {0};
    char line[9000];
    const char *from = "", *to = "";
    const int by_path = family == FAULT_RENAME || family == FAULT_LINK || family == FAULT_REMOVE;
    if (fault.log < 0 || result < 0) return;
    if (!by_path && family != FAULT_FOLDER) {
        const long file = family == FAULT_CREATE || family == FAULT_OPEN ? result : ARGUMENT(c, 0);
        fault_call(SYS_newfstatat, file, (long)"", (long)&about, AT_EMPTY_PATH, 0, 0);
    } else {
        const int at = number == SYS_renameat2 || number == SYS_linkat || number == SYS_unlinkat ||
                       number == SYS_mkdirat
#if defined(SYS_renameat)
                       || number == SYS_renameat
#endif
            ;
        from = (const char *)ARGUMENT(c, at ? 1 : 0);
        if (family == FAULT_RENAME || family == FAULT_LINK) to = (const char *)ARGUMENT(c, at ? 3 : 1);
    }
    const int n = snprintf(line, sizeof line, "%s %lu %ld %s%s%s\n", words[family], (unsigned long)about.st_ino,
                           S_ISDIR(about.st_mode) ? -1L : (long)about.st_size, from, *to ? "\t" : "", to);
    CALL(SYS_write, fault.log, line, n);
}

/* ---- the calls ---- */

static long make_call(long number, const ucontext_t *c, long length) {
    return fault_call(number, ARGUMENT(c, 0), ARGUMENT(c, 1), length, ARGUMENT(c, 3), ARGUMENT(c, 4), ARGUMENT(c, 5));
}

static void die(void) {
    CALL(SYS_kill, CALL(SYS_getpid, 0, 0, 0), SIGKILL, 0);
    for (;;) CALL(SYS_sched_yield, 0, 0, 0);
}

static int changes_files(fault_family f) {
    return f == FAULT_CREATE || f == FAULT_WRITE || f == FAULT_SYNC || f == FAULT_RENAME || f == FAULT_LINK ||
           f == FAULT_REMOVE || f == FAULT_CUT || f == FAULT_FOLDER;
}

/* A close() that fails has closed the file, as on Linux. A short call moves half of the bytes, at least one. */
static long failed_call(fault_family family, long number, const ucontext_t *c) {
    const long length = ARGUMENT(c, 2);
    if (fault.how == FAULT_SHORT) return make_call(number, c, length > 1 ? length / 2 : length);
    if (fault.how == FAULT_KILL_BEFORE) die();
    if (fault.how == FAULT_KILL_AFTER || family == FAULT_CLOSE) {
        const long result = make_call(number, c, length);
        if (fault.how == FAULT_KILL_AFTER) {
            note(family, number, c, result);
            die();
        }
    }
    return -fault.how;
}

static void on_call(int signal_number, siginfo_t *about, void *context) {
    ucontext_t *c = context;
    const long number = about->si_syscall;
    const fault_family family = fault.live && fault.root ? family_of(number, c) : FAULT_FAMILIES;
    int due = 0;
    (void)signal_number;
    if (family != FAULT_FAMILIES) due = fault_is_due(family);
    if (family != FAULT_FAMILIES && changes_files(family)) due |= fault_is_due(FAULT_CHANGES);
    const long result = due ? failed_call(family, number, c) : make_call(number, c, ARGUMENT(c, 2));
    if (family != FAULT_FAMILIES && changes_files(family)) note(family, number, c, result);
    SET_RESULT(c, result);
}

int fault_filter_start(void) {
    struct sock_filter program[TRAPPED + 9];
    struct sigaction action = {0};
    const uintptr_t begin = (uintptr_t)fault_call, end = (uintptr_t)fault_call_end;
    unsigned n = 0;
    action.sa_sigaction = on_call;
    action.sa_flags = SA_SIGINFO | SA_NODEFER;
    if (sigaction(SIGSYS, &action, NULL) != 0) return 0;
    program[n++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr));
    for (unsigned i = 0; i < TRAPPED; i++)
        program[n++] =
            (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)trapped[i], (uint8_t)(TRAPPED - i), 0);
    program[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    const uint32_t place = offsetof(struct seccomp_data, instruction_pointer);
    program[n++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, place + 4);
    program[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)((uint64_t)begin >> 32), 0, 3);
    program[n++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, place);
    program[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, (uint32_t)begin, 0, 1);
    program[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JGT | BPF_K, (uint32_t)end, 0, 1);
    program[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRAP);
    program[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    const struct sock_fprog whole = {(unsigned short)n, program};
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &whole) == 0;
}

#else

int fault_filter_start(void) { return 0; }

#endif
