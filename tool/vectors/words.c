/* words.c - ulp vectors: known words of the generator; see vectors.h. */
#include "vectors.h"

#include "experiments/harness/cli/options.h"

/* The seeds are also the numbers of the streams. Words 0 to 31, and words about a carry in the number of the block. */
static const uint64_t seeds[] = {0, 1, 42, 0xffffffffu, 0x100000000u, 0x0123456789abcdefu, UINT64_MAX};
static const uint64_t starts[] = {0, 0x3fffffff8u, 0x7ffffffffffffff8u};
enum { SEEDS = sizeof seeds / sizeof seeds[0], STARTS = sizeof starts / sizeof starts[0], FIRST = 32, MORE = 16 };

ulp_status vectors_words(const vectors_request *request, ulp_error *error) {
    vectors_file file = {0};
    vectors_array *const columns[] = {vectors_add(&file, 'u', 8, "seed"), vectors_add(&file, 'u', 8, "stream"),
                                      vectors_add(&file, 'u', 8, "index"), vectors_add(&file, 'u', 4, "word")};
    ulp_text csv = {0};
    ulp_text_print(&csv, "seed,stream,index,word\n");
    for (size_t i = 0; i < SEEDS * SEEDS * STARTS; i++) {
        const uint64_t start = starts[i % STARTS];
        const ulp_stream stream = {seeds[i / STARTS / SEEDS], seeds[i / STARTS % SEEDS], 0};
        for (uint64_t k = start; k < start + (start == 0 ? FIRST : MORE); k++) {
            const uint64_t row[] = {stream.seed, stream.stream, k, ulp_random_word(stream, k)};
            for (size_t c = 0; c < 4; c++) vectors_put(columns[c], row[c]), vectors_cell(&csv, row[c], c < 3 ? 64 : 32);
            ulp_text_add(&csv, "\n", 1);
        }
    }
    ulp_status status = vectors_write_npz(request, "words.npz", &file, error);
    if (status == ULP_OK) status = vectors_write_text(request, "words.csv", &csv, error);
    vectors_free(&file);
    ulp_text_free(&csv);
    return status;
}
