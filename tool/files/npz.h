/* npz.h - reading .npz files: zip archives whose members are .npy files, stored or deflated.
 *
 * The list of members, at the end of the file, is trusted in nothing: every place and length in it has to lie in the
 * file, and a member is decompressed once before its array is read, so that its size and its CRC-32 are those of the
 * list. Members are read, never unpacked to files; a name that is a path out of its folder is refused all the same.
 * Format: PKWARE, APPNOTE.TXT 6.3.10, sections 4.3 and 4.4. Archives of 4 GiB or more (ZIP64) are refused.
 */
#ifndef ULP_TOOL_FILES_NPZ_H
#define ULP_TOOL_FILES_NPZ_H

#include "source.h"

/* An array of an archive. */
typedef struct npz_member {
    char *name;  /* without `.npy` */
    uint64_t at; /* of its local header, from the beginning of the file */
    uint32_t packed, size, crc;
    int is_deflated;
} npz_member;

typedef struct npz_archive {
    char *path; /* of the file */
    const char *shown;
    char *wanted; /* the name of the member that the user asks for, or NULL */
    FILE *stream;
    int file;
    uint64_t end; /* of the members: where the list of members begins */
    npz_member *members;
    size_t count;
} npz_archive;

/* The place in "FILE.npz:NAME" where NAME begins; NULL if the text names no member. */
const char *npz_member_of(const char *path);
/* Whether the text names an archive: FILE.npz or FILE.npz:NAME. */
int npz_is_named(const char *path);

/* Open FILE.npz or FILE.npz:NAME and read the list of its arrays. Members that are no .npy files do not count.
 * `program` is as in ulp_input_open(). The caller closes the archive in any case. */
ulp_status npz_open(npz_archive *z, const char *program, const char *path, ulp_error *error);
void npz_close(npz_archive *z);

/* The array that the path names, or the only one. */
ulp_status npz_choose(const npz_member **member, const npz_archive *z, ulp_error *error);
/* The array of a name; NULL if there is none. */
const npz_member *npz_find(const npz_archive *z, const char *name);

/* Open a member for reading from its first byte. Returns ULP_NO_DEVICE for a compressed member if this build has no
 * zlib. The caller closes the source in any case. */
ulp_status npz_open_member(file_source *s, const npz_archive *z, const npz_member *member, ulp_error *error);

#endif
