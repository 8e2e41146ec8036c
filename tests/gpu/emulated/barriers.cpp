/* barriers.cpp - barriers in the shared memory of the emulated device, which count arrivals and bytes, and the copies
 * that arrive there. */
#include "tensor.h"

#include <deque>
#include <string.h>

using namespace tensor;

namespace {

/* What shared memory holds of a barrier: a sign that it was begun, and its number in `barriers`. */
struct place {
    uint32_t sign, number;
};
enum { SIGN = 0x5a17c0de };

struct barrier {
    unsigned count, missing; /* arrivals */
    long bytes;              /* announced and not there */
    unsigned phase;
    bool of_instructions; /* the end of instructions has arrived there */
};
std::deque<barrier> barriers; /* of this launch */
unsigned launch;
bool init_fenced;

barrier &barrier_at(uint64_t *at) {
    place p;
    memcpy(&p, at, sizeof p);
    if (p.sign != SIGN || p.number >= barriers.size()) fail("a barrier that was not begun");
    return barriers[p.number];
}

void complete(barrier &b) {
    if (b.missing != 0 || b.bytes != 0) return;
    b.missing = b.count;
    b.phase++;
}

void arrive(barrier &b) {
    if (b.missing == 0) fail("more arrivals at a barrier than it counts");
    b.missing--;
    complete(b);
}

struct copy_begun {
    void *to;
    const void *from;
    uint32_t bytes;
    uint64_t *barrier;
    bool done;
};
std::deque<copy_begun> copies; /* that have not arrived */
unsigned copies_begun;

void finish(const copy_begun &c) {
    if (!c.done) memcpy(c.to, c.from, c.bytes);
    barrier &b = barrier_at(c.barrier);
    b.bytes -= c.bytes;
    if (b.bytes < 0) fail("more bytes at a barrier than were announced");
    complete(b);
}

/* Lets the first of the copies arrive that the barrier waits for. */
bool finish_one(uint64_t *at) {
    for (size_t i = 0; i < copies.size(); i++)
        if (copies[i].barrier == at) {
            const copy_begun c = copies[i];
            copies.erase(copies.begin() + (ptrdiff_t)i);
            finish(c);
            return true;
        }
    return false;
}

} // namespace

void ulp_emulated_barrier_init(uint64_t *at, unsigned count) {
    if (launch != ulp_emulated_launches) barriers.clear();
    launch = ulp_emulated_launches;
    const place p = {SIGN, (uint32_t)barriers.size()};
    barriers.push_back({count, count, 0, 0, false});
    memcpy(at, &p, sizeof p);
    init_fenced = false;
}

void ulp_emulated_barrier_init_fence(void) { init_fenced = true; }

void ulp_emulated_barrier_arrive(uint64_t *at, uint32_t bytes) {
    barrier &b = barrier_at(at);
    if (!init_fenced) fail("a barrier is used without a fence after its init");
    b.bytes += bytes;
    arrive(b);
}

void tensor::instructions_arrive(uint64_t *at) {
    barrier &b = barrier_at(at);
    b.of_instructions = true;
    arrive(b);
}

void tensor::check_barrier(uint64_t *at) {
    (void)barrier_at(at);
    if (!init_fenced) fail("a barrier is used without a fence after its init");
}

void tensor::check_copies(void) {
    if (!copies.empty()) fail("a block ends while a copy to its shared memory is on its way");
}

/* A copy is made at once or as late as the wait for it; until then the bytes there are wrong. Half of the copies are
 * late, in an order that has no pattern. */
void ulp_emulated_copy(void *to, const void *from, uint32_t bytes, uint64_t *at) {
    if ((uintptr_t)to % 16 != 0 || (uintptr_t)from % 16 != 0 || bytes % 16 != 0 || bytes == 0)
        fail("a copy whose addresses or size are no multiples of 16 bytes");
    if (static_cast<unsigned char *>(to) < ulp_emulated_dynamic_shared() ||
        static_cast<unsigned char *>(to) + bytes > ulp_emulated_dynamic_shared() + ulp_emulated_dynamic_bytes)
        fail("a copy to outside the shared memory of the block");
    if (ulp_emulated_place(from, bytes) < 0) fail("a copy from outside the memory of the device");
    if (ulp_emulated_capability() < 90) fail("this device has no copies that arrive at barriers");
    check_barrier(at);
    const bool early = (copies_begun++ * 2654435761u >> 16) % 2 == 0;
    if (early) memcpy(to, from, bytes);
    else memset(to, 0xba, bytes);
    copies.push_back({to, from, bytes, at, early});
}

void ulp_emulated_barrier_wait(uint64_t *at, unsigned parity) {
    if (!init_fenced) fail("a barrier is used without a fence after its init");
    for (unsigned tries = 0; barrier_at(at).phase % 2 == parity; tries++) {
        if (!finish_one(at) && !advance_instructions(at)) ulp_emulated_yield();
        if (tries == 100000) fail("a wait for what nobody begins");
    }
    if (barrier_at(at).of_instructions) instructions_waited();
}
