/* npz_write.h - writing .npz files as NumPy's savez does: zip archives of stored .npy files. */
#ifndef ULP_TOOL_FILES_NPZ_WRITE_H
#define ULP_TOOL_FILES_NPZ_WRITE_H

#include <stdint.h>
#include <stdio.h>

/* A member that was written. */
typedef struct npz_entry {
    char *name; /* with `.npy` */
    uint64_t at, size;
    uint32_t crc;
} npz_entry;

typedef struct npz_writer {
    FILE *file; /* open for writing and reading ("w+"), in which one can seek */
    npz_entry *entries;
    size_t count;
    int failed; /* errno of the first failure; EFBIG where the archive would have 4 GiB or more */
} npz_writer;

/* Begin a member, a name without `.npy`. The bytes of the .npy file are then written to w->file. */
void npz_begin(npz_writer *w, const char *name);
/* The place in the file where the bytes of the open member begin. */
long npz_first(const npz_writer *w);
/* End the member. The function reads it again for its CRC-32. */
void npz_end(npz_writer *w);
/* Write the list of members after the last member, and free the memory. Returns 0, or errno of a failure. */
int npz_finish(npz_writer *w);

#endif
