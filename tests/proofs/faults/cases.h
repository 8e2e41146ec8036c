/* cases.h - the commands that are replayed with faults. */
#ifndef FAULTS_CASES_H
#define FAULTS_CASES_H

/* Programs are named without their folder. Words are divided by blanks. */
typedef struct fault_case {
    const char *name;
    const char
        *prepare; /* commands for sh in the empty folder: inputs, and old outputs; $BIN is the programs' folder */
    const char *command; /* standard input is the file `stdin` if there is one */
    const char *again;   /* after a failure; NULL: the command with --resume; "": the command */
    int loose;           /* 1: the outputs hold times; only their form is compared */
    int threads;         /* 1: only the families of threads and memory, because the order of calls is by chance */
    int brief;           /* 1: part of the short form */
} fault_case;

extern const fault_case fault_cases[];
extern const int fault_case_count;

#endif
