/* fuzz.c - running one input of a target, with the checks that hold for all; see fuzz.h. */
#define _GNU_SOURCE /* memfd_create */
#include "fuzz.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

fuzz_counts fuzz_counted;
void (*fuzz_seed_to)(const void *data, size_t size);

const fuzz_target *fuzz_target_find(const char *name) {
    for (size_t i = 0; name && fuzz_target_get(i); i++)
        if (strcmp(fuzz_target_get(i)->name, name) == 0) return fuzz_target_get(i);
    return NULL;
}

/* ---- the state of a run ---- */

enum { KEPT = 64 };

static const fuzz_target *running;
static int has_passed;
static void *kept[KEPT];
static size_t kept_count;
static FILE *first_out, *first_error; /* of the process */
static int files[FUZZ_FILES], input;
static char file_names[FUZZ_FILES][32];
static char folder[64];

static void *keep(void *memory) {
    if (!memory || kept_count == KEPT) abort();
    return kept[kept_count++] = memory;
}

void fuzz_check(int good, const char *sentence, ...) {
    va_list arguments;
    if (good) return;
    fprintf(first_error, "\n%s: ", running ? running->name : "fuzz");
    va_start(arguments, sentence);
    vfprintf(first_error, sentence, arguments);
    va_end(arguments);
    fprintf(first_error, "\n");
    fflush(first_error);
    abort();
}

void fuzz_passed(void) { has_passed = 1; }

/* ---- allocations ---- */

static size_t largest;

#if defined(__SANITIZE_ADDRESS__)
#define HAS_HOOKS 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define HAS_HOOKS 1
#endif
#endif

#if defined(HAS_HOOKS)
int __sanitizer_install_malloc_and_free_hooks(void (*on_malloc)(const volatile void *, size_t),
                                              void (*on_free)(const volatile void *));
static void on_malloc(const volatile void *memory, size_t size) {
    (void)memory;
    if (size > largest) largest = size;
}
static void on_free(const volatile void *memory) { (void)memory; }
#endif

/* ---- files ---- */

static void fill(int file, const uint8_t *data, size_t size) {
    if (ftruncate(file, 0) != 0 || (size && pwrite(file, data, size, 0) != (ssize_t)size) ||
        lseek(file, 0, SEEK_SET) != 0)
        abort();
}

const char *fuzz_file(int i, const uint8_t *data, size_t size) {
    fill(files[i], data, size);
    return file_names[i];
}

uint8_t *fuzz_file_bytes(int i, size_t *size) {
    struct stat about;
    if (fstat(files[i], &about) != 0) abort();
    *size = (size_t)about.st_size;
    uint8_t *bytes = keep(malloc(*size + 1));
    if (pread(files[i], bytes, *size, 0) != about.st_size) abort();
    bytes[*size] = 0;
    return bytes;
}

int fuzz_file_number(int i) { return files[i]; }

void fuzz_stdin(const uint8_t *data, size_t size) {
    fill(input, data, size);
    clearerr(stdin);
}

const char *fuzz_folder(void) { return folder; }

/* The time of the folder's last change says whether there is anything to remove. */
static void empty_folder(void) {
    static struct timespec emptied;
    struct stat about;
    if (stat(folder, &about) != 0 ||
        (about.st_mtim.tv_sec == emptied.tv_sec && about.st_mtim.tv_nsec == emptied.tv_nsec))
        return;
    DIR *opened = opendir(folder);
    for (struct dirent *entry; opened && (entry = readdir(opened));)
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
            unlinkat(dirfd(opened), entry->d_name, 0);
    if (opened) closedir(opened);
    if (stat(folder, &about) == 0) emptied = about.st_mtim;
}

static void remove_folder(void) {
    empty_folder();
    rmdir(folder);
}

/* ---- output of a run ---- */

/* A stream into memory: what the library writes to stdout and stderr of C; the descriptors stay as they are. */
typedef struct sink {
    FILE *stream;
    char *text;
    size_t size;
} sink;
static sink sinks[2];

static void open_sink(sink *s) {
    s->stream = open_memstream(&s->text, &s->size);
    if (!s->stream) abort();
}

static void begin_output(void) {
    for (int i = 0; i < 2; i++) open_sink(&sinks[i]);
    stdout = sinks[0].stream;
    stderr = sinks[1].stream;
}

static void end_output(void) {
    stdout = first_out;
    stderr = first_error;
    for (int i = 0; i < 2; i++) {
        fclose(sinks[i].stream);
        free(sinks[i].text);
    }
}

fuzz_output fuzz_take_output(void) {
    for (int i = 0; i < 2; i++) fclose(sinks[i].stream);
    const fuzz_output taken = {keep(sinks[0].text), keep(sinks[1].text), sinks[0].size};
    begin_output();
    return taken;
}

/* ---- checks ---- */

void fuzz_check_sentence(const char *sentence, const char *of) {
    fuzz_check(*sentence != '\0', "no sentence about '%s'", of);
}

void fuzz_check_exit(int status, const char *of) {
    fuzz_check(status >= 0 && status <= 3, "'%s': exit status %d", of, status);
    if (status == 0) return;
    fflush(stderr);
    fuzz_check(sinks[1].size > 0, "'%s': exit status %d without a message", of, status);
    for (size_t i = 0; i < sinks[1].size; i++) {
        const unsigned char c = (unsigned char)sinks[1].text[i];
        fuzz_check(c == '\n' || (c >= ' ' && c != 127), "'%s': byte %02x in the message", of, c);
    }
}

void fuzz_check_status(ulp_status status, const char *sentence, const char *of) {
    fuzz_check(status >= ULP_OK && status <= ULP_DEVICE_FAILED, "'%s': status %d", of, (int)status);
    if (status != ULP_OK) fuzz_check_sentence(sentence, of);
}

/* ---- inputs ---- */

char *fuzz_text(const uint8_t *data, size_t size) {
    const uint8_t *zero = size ? memchr(data, 0, size) : NULL;
    const size_t n = zero ? (size_t)(zero - data) : size;
    char *text = keep(malloc(n + 1));
    if (n) memcpy(text, data, n);
    text[n] = '\0';
    return text;
}

void fuzz_take(fuzz_bytes *from, void *to, size_t n) {
    const size_t there = n < from->left ? n : from->left;
    memset(to, 0, n);
    if (there) memcpy(to, from->at, there);
    from->at += there;
    from->left -= there;
}

uint64_t fuzz_take_number(fuzz_bytes *from, int bytes) {
    uint8_t at[8];
    uint64_t number = 0;
    fuzz_take(from, at, (size_t)bytes);
    for (int i = 0; i < bytes; i++) number = number << 8 | at[i];
    return number;
}

void fuzz_seed(const void *data, size_t size) { fuzz_seed_to(data, size); }

void fuzz_seed_text(const char *text, ...) {
    ulp_text made = {0};
    va_list arguments;
    va_start(arguments, text);
    ulp_text_print_list(&made, text, arguments);
    va_end(arguments);
    fuzz_seed(ulp_text_of(&made), made.length);
    ulp_text_free(&made);
}

void fuzz_seed_texts(const char *const *texts) {
    for (; *texts; texts++) fuzz_seed(*texts, strlen(*texts));
}

const char *fuzz_word(const char *words, size_t i, int *length) {
    const char *at = words + strspn(words, " ");
    for (; i > 0; i--) {
        at += strcspn(at, " ");
        at += strspn(at, " ");
    }
    *length = (int)strcspn(at, " ");
    return at;
}

void fuzz_seed_words(const char *words) {
    int n;
    for (const char *at = fuzz_word(words, 0, &n); n > 0; at = fuzz_word(at, 1, &n)) fuzz_seed(at, (size_t)n);
}

size_t fuzz_read(const char *path, uint8_t *bytes, size_t room) {
    FILE *file = fopen(path, "rb");
    const size_t n = file ? fread(bytes, 1, room, file) : 0;
    if (file) fclose(file);
    return n;
}

/* ---- one input ---- */

void fuzz_begin(void) {
    if (first_error) return;
    first_out = stdout;
    first_error = stderr;
    const char *place = getenv("TMPDIR");
    snprintf(folder, sizeof folder, "%.30s/ulp-fuzz-XXXXXX", place && *place ? place : "/tmp");
    if (!mkdtemp(folder) || chdir(folder) != 0) abort();
    atexit(remove_folder);
    for (int i = 0; i < FUZZ_FILES; i++) {
        files[i] = dup2(memfd_create("input", 0), 200 + i); /* the same numbers in every process */
        if (files[i] < 0) abort();
        snprintf(file_names[i], sizeof file_names[i], "/proc/self/fd/%d", files[i]);
    }
    input = memfd_create("stdin", 0);
    if (input < 0 || dup2(input, STDIN_FILENO) < 0) abort();
    setenv("ULPLAB_ISA", "baseline", 1);
    unsetenv("ULPLAB_DATA");
    unsetenv("OMP_NUM_THREADS");
#if defined(HAS_HOOKS)
    __sanitizer_install_malloc_and_free_hooks(on_malloc, on_free);
#endif
}

int fuzz_valid(const fuzz_target *target, const char *text) {
    fuzz_begin();
    running = target;
    begin_output();
    const int good = target->is_valid(text);
    end_output();
    while (kept_count) free(kept[--kept_count]);
    empty_folder();
    return good;
}

void fuzz_one(const fuzz_target *target, const uint8_t *data, size_t size) {
    fuzz_begin();
    running = target;
    has_passed = 0;
    begin_output();
    largest = 0;
    target->run(data, size);
    const size_t most = largest;
    fuzz_check(most <= target->per_byte * size + target->fixed,
               "an allocation of %zu bytes for an input of %zu; %zu a byte and %zu are allowed", most, size,
               target->per_byte, target->fixed);
    end_output();
    while (kept_count) free(kept[--kept_count]);
    empty_folder();
    fuzz_counted.runs++;
    fuzz_counted.passed += (uint64_t)has_passed;
    if (most > fuzz_counted.largest) fuzz_counted.largest = most;
}
