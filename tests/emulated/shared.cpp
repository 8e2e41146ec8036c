/* shared.cpp - shared memory of the emulated device: addresses, operands of instructions, banks, asynchronous copies.
 */
#include "queue.h"
#include "tensor.h"

#include <string.h>

using namespace tensor;

/* ---- addresses ---- */

namespace {

/* Addresses of shared memory have 18 bits: offsets in a window around the first array that a launch asks for. */
char *window;
unsigned window_launch;
enum { WINDOW = 1 << 18, MARGIN = 1 << 16 };

} // namespace

uint32_t ulp_emulated_shared_address(const void *p) {
    char *at = static_cast<char *>(const_cast<void *>(p));
    if (window_launch != ulp_emulated_launches) window = at - ((uintptr_t)at % 1024 + MARGIN);
    window_launch = ulp_emulated_launches;
    if (at < window || at >= window + WINDOW) fail("shared memory too far apart for descriptors");
    return (uint32_t)(at - window);
}

const unsigned char *tensor::shared_bytes(unsigned address) {
    if (address >= WINDOW) fail("an address outside shared memory");
    return reinterpret_cast<const unsigned char *>(window) + address;
}

void tensor::operand_row(unsigned char *to, uint64_t descriptor, unsigned r) {
    const unsigned base = (unsigned)(descriptor & 0x3fff) << 4, leading = (unsigned)(descriptor >> 16 & 0x3fff) << 4,
                   stride = (unsigned)(descriptor >> 32 & 0x3fff) << 4;
    for (unsigned half = 0; half < 2; half++)
        memcpy(to + 16 * half, shared_bytes(base + (r >> 3) * stride + half * leading + (r & 7) * 16), 16);
}

/* ---- banks of shared memory ---- */

namespace {

struct store {
    uintptr_t to;
    unsigned bytes;
};
std::vector<store> stores[1024]; /* of each thread, in its order */
bool counts_stores;

/* The passes of writes at once: the largest number of different words in a bank. */
unsigned long passes_of(const std::vector<store> &group) {
    std::vector<uintptr_t> bank[32];
    size_t most = 0;
    for (const store &s : group)
        for (uintptr_t word = s.to / 4; word < (s.to + s.bytes) / 4; word++) {
            std::vector<uintptr_t> &words = bank[word % 32];
            bool known = false;
            for (uintptr_t other : words) known |= other == word;
            if (!known) words.push_back(word);
            most = words.size() > most ? words.size() : most;
        }
    return most;
}

} // namespace

void ulp_emulated_shared_store(const void *to, unsigned bytes) {
    if ((uintptr_t)to % bytes != 0) fail("a store to shared memory that is not aligned");
    if (counts_stores) stores[threadIdx.x].push_back({(uintptr_t)to, bytes});
}

ulp_emulated_store_counts ulp_emulated_stores(void) {
    ulp_emulated_store_counts counts = {0, 0};
    counts_stores = true;
    for (unsigned first = 0; first < 1024;) {
        const unsigned at_once = stores[first].empty() ? 32 : 128 / stores[first][0].bytes;
        for (size_t n = 0; n < stores[first].size(); n++) {
            std::vector<store> group;
            for (unsigned t = first; t < first + at_once; t++)
                if (n < stores[t].size()) group.push_back(stores[t][n]);
            counts.groups++;
            counts.passes += passes_of(group);
        }
        for (unsigned t = first; t < first + at_once; t++) stores[t].clear();
        first += at_once;
    }
    return counts;
}

/* ---- copies to shared memory ---- */

namespace {

struct copy_begun {
    void *to;
    const void *from; /* NULL: zeros */
    unsigned group;
};
struct thread_progress {
    bool proxied;
    queue<copy_begun> copies;
} progress[1024];

void finish(const copy_begun &c) {
    if (c.from == nullptr) memset(c.to, 0, 16);
    else memcpy(c.to, c.from, 16);
}

} // namespace

void ulp_emulated_proxy_fence(void) { progress[threadIdx.x].proxied = true; }

bool tensor::is_visible(unsigned thread) { return progress[thread].proxied; }

void ulp_emulated_copy(void *to, const void *from, bool inside) {
    if ((uintptr_t)from % 16 != 0) fail("a copy of 16 bytes that is not aligned");
    ulp_emulated_shared_store(to, 16);
    const copy_begun c = {to, inside ? from : nullptr, 0};
    if (is_early()) finish(c);
    else memset(to, 0xba, 16);
    progress[threadIdx.x].copies.list.push_back(c);
}

void ulp_emulated_copy_commit(void) { progress[threadIdx.x].copies.commit(); }

void ulp_emulated_copy_wait(unsigned left) {
    thread_progress &t = progress[threadIdx.x];
    t.copies.wait(left, [&](const copy_begun &c) {
        if (!is_early()) finish(c);
        t.proxied = false;
    });
}
