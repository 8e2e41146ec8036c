/* wgmma.cpp - wgmma of the emulated device; tensor.cpp says how it finds the results. */
#include "tensor.h"

#include <map>
#include <stdio.h>
#include <string.h>

using namespace tensor;

namespace {

struct wgmma {
    instruction in;
    unsigned n;
};

/* Read m64nNkK.D.A.B; the rows of wgmma are the rows of Hopper. */
wgmma read_wgmma(const std::string &text) {
    wgmma w;
    char result[8], a[8], b[8];
    unsigned k;
    if (sscanf(text.c_str(), "m64n%uk%u.%7[a-z0-9].%7[a-z0-9].%7[a-z0-9]", &w.n, &k, result, a, b) != 5)
        fail(text + ": not read");
    if (ulp_emulated_capability() != 90) fail(text + ": this device has no wgmma");
    w.in.k = k;
    w.in.result = result;
    w.in.a = a;
    w.in.b = b;
    w.in.saturates = w.in.exact = false;
    std::string name = project_name(a);
    if (w.in.a != w.in.b) name += "." + w.in.b;
    choose_row(&w.in, "h100-" + name + (w.in.result == "f16" ? "-fp16" : ""), text);
    if (k * size_of(&w.in.path.a) != 32) fail(text + ": rows of another length");
    return w;
}

const wgmma &wgmma_of(const char *text) {
    static std::map<std::string, wgmma> known;
    const auto at = known.find(text);
    return at != known.end() ? at->second : known.emplace(text, read_wgmma(text)).first->second;
}

/* Work of a thread that is not finished, in groups. An item has `group`, which is 0 until it is committed. */
template <typename T> struct queue {
    std::vector<T> list;
    unsigned groups; /* that are committed and not finished */

    void commit() {
        groups++;
        for (T &item : list)
            if (item.group == 0) item.group = groups;
    }
    /* Calls finish for the items of all groups but the latest `left`. */
    template <typename F> void wait(unsigned left, F finish) {
        const unsigned over = groups > left ? groups - left : 0;
        std::vector<T> rest;
        for (T item : list) {
            if (item.group != 0 && item.group <= over) {
                finish(item);
                continue;
            }
            if (item.group != 0) item.group -= over;
            rest.push_back(item);
        }
        list = rest;
        groups -= over;
    }
};

/* A GPU may read operands at once or as late as the wait: even warps do it at once, odd warps at the wait. */
bool is_early() { return threadIdx.x / 32 % 2 == 0; }

struct instruction_begun {
    const wgmma *what;
    uint32_t *d;
    uint64_t a, b;
    int keep;
    bool done;
    unsigned group; /* 0: not committed */
};
struct progress {
    bool fenced;
    queue<instruction_begun> instructions;
    std::map<uint32_t *, std::vector<uint32_t>> saved; /* D before the first of the instructions */
};
progress threads[1024];

/* d = the elements of D that this thread holds. */
void finish(const instruction_begun &p, std::vector<uint32_t> &d) {
    const wgmma &w = *p.what;
    const bool half = w.in.result == "f16";
    const unsigned thread = threadIdx.x % 128, lane = thread & 31, warp = thread >> 5;
    const ulp_datapath *path = &w.in.path;
    if (p.a >> 46 != 0 || p.b >> 46 != 0) fail("a descriptor with a swizzle or an offset");
    for (unsigned down = 0; down < 2; down++) {
        unsigned char bytes[32];
        double x[32], y[32];
        const unsigned row = 16 * warp + 8 * down + (lane >> 2);
        operand_row(bytes, p.a, row);
        read_row(x, bytes, w.in.k, &path->a, w.in.a_values.data());
        for (unsigned block = 0; block < w.n / 8; block++)
            for (unsigned side = 0; side < 2; side++) {
                operand_row(bytes, p.b, 8 * block + 2 * (lane & 3) + side);
                read_row(y, bytes, w.in.k, &path->b, w.in.b_values.data());
                uint32_t &to = half ? d[2 * block + down] : d[4 * block + 2 * down + side];
                const unsigned shift = half ? 16 * side : 0;
                const uint32_t mask = half ? 0xffffu << shift : 0xffffffffu;
                const uint64_t code = dot(w.in, p.keep ? (to & mask) >> shift : 0, {x, y, w.in.k, nullptr, nullptr});
                to = (to & ~mask) | (uint32_t)code << shift;
            }
    }
}

} // namespace

void ulp_emulated_wgmma_fence(void) { threads[threadIdx.x].fenced = true; }

void ulp_emulated_wgmma(const char *text, uint32_t *d, uint64_t a, uint64_t b, int keep) {
    progress &t = threads[threadIdx.x];
    const wgmma &w = wgmma_of(text);
    const size_t words = w.n / (w.in.result == "f16" ? 4 : 2);
    if (blockDim.y != 1 || blockDim.z != 1 || threadIdx.x / 128 * 128 + 128 > blockDim.x)
        fail(std::string(text) + ": the thread is in no whole warpgroup");
    if (!t.fenced) fail(std::string(text) + ": there is no fence before the instruction");
    if (t.saved.count(d) == 0) t.saved[d] = std::vector<uint32_t>(d, d + words);
    for (size_t i = 0; i < words; i++) d[i] = 0xffbadbadu;
    instruction_begun begun = {&w, d, a, b, keep, is_early(), 0};
    if (begun.done) finish(begun, t.saved[d]);
    t.instructions.list.push_back(begun);
}

void ulp_emulated_wgmma_commit(void) { threads[threadIdx.x].instructions.commit(); }

/* D of an instruction that is not finished stays wrong. */
void ulp_emulated_wgmma_wait(unsigned left) {
    progress &t = threads[threadIdx.x];
    __syncwarp();
    for (const instruction_begun &i : t.instructions.list)
        if (i.group == 0) fail("a wgmma that was not committed");
    t.instructions.wait(left, [&](const instruction_begun &i) {
        if (!i.done) finish(i, t.saved[i.d]);
    });
    t.fenced = false;
    if (!t.instructions.list.empty()) return;
    for (const auto &s : t.saved) memcpy(s.first, s.second.data(), s.second.size() * sizeof s.second[0]);
    t.saved.clear();
}
