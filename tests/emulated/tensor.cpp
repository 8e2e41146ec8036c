/* tensor.cpp - Tensor Cores of the emulated device: an instruction gives the results of a row of datapath_rows.c.
 *
 * The place of an element in the registers is written here a second time: this file says which lane holds element
 * (i,k), and kernels/cuda/fragments.h says what lane l holds. The row of each instruction on each device is also
 * written a second time. A mistake in one of the two texts makes tests fail. */
#include "cuda_runtime.h"
#include "kernels/products/datapath.h"

#include <map>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <string>
#include <vector>

namespace {

[[noreturn]] void fail(const std::string &text) {
    fprintf(stderr, "emulated device: %s\n", text.c_str());
    abort();
}

/* An instruction: its k, and the types of A, B and the result. */
struct instruction {
    unsigned k;
    std::string result, a, b;
    bool saturates, exact;
    ulp_datapath path;
    std::vector<double> a_values, b_values; /* the value of each code; empty for codes of more than 16 bits */
};

std::string project_name(const std::string &type) { return type == "f16" ? "fp16" : type; }

bool is_byte(const std::string &type) { return type == "e4m3" || type == "e5m2" || type == "s8"; }

/* The name of the row that an instruction mma.sync has on this device. */
std::string mma_row(const instruction &i) {
    const int capability = ulp_emulated_capability();
    std::string name = project_name(i.a);
    if (i.a != i.b) name += "." + i.b;
    if (i.result == "f16") name += "-fp16";
    if (capability == 89) return "l40s-" + name;
    if (capability < 90) return "a100-" + name;
    if (capability < 100) {
        if (is_byte(i.a)) return "h100-" + name + "-mma";
        if (i.a == "tf32") return i.k == 4 ? "h100-tf32-k4" : "h100-tf32";
        return i.k == 8 ? "h100-" + name + "-k8" : "h100-" + name;
    }
    if (capability < 120) /* nobody has measured instructions with half of k; they are taken to be as on Hopper */
        return i.k == 16 || (i.a == "tf32" && i.k == 8) || is_byte(i.a) ? "b200-" + name + "-mma"
                                                                        : "h100-" + name + (i.k == 4 ? "-k4" : "-k8");
    return "rtx5090-" + name;
}

std::vector<double> values_of(const ulp_format *f) {
    std::vector<double> values(f->bits <= 16 ? (size_t)1 << f->bits : 0);
    for (size_t code = 0; code < values.size(); code++) values[code] = ulp_decode(code, f);
    return values;
}

void choose_row(instruction *i, const std::string &name, const std::string &text) {
    const char *settings = getenv("EMULATED_SETTINGS"); /* for tests: the device differs from its model */
    memset(&i->path, 0, sizeof i->path);
    if ((settings == nullptr || ulp_datapath_parse(&i->path, (name + settings).c_str()) != ULP_OK) &&
        ulp_datapath_parse(&i->path, name.c_str()) != ULP_OK)
        fail(text + ": no row " + name);
    i->a_values = values_of(&i->path.a);
    i->b_values = values_of(&i->path.b);
}

instruction read_mma(const std::string &text) {
    instruction i;
    char result[8], a[8], b[8], c[8];
    unsigned k;
    const std::string plain =
        text.find(".satfinite") == std::string::npos ? text : std::string(text).erase(text.find(".satfinite"), 10);
    if (sscanf(plain.c_str(), "m16n8k%u.row.col.%7[a-z0-9].%7[a-z0-9].%7[a-z0-9].%7[a-z0-9]", &k, result, a, b, c) != 5)
        fail(text + ": not read");
    i.k = k;
    i.result = result;
    i.a = a;
    i.b = b;
    i.saturates = plain != text;
    i.exact = i.a == "s8";
    if (strcmp(result, c) != 0) fail(text + ": C and D differ");
    if ((i.a == "e4m3" || i.a == "e5m2") && ulp_emulated_capability() < 89) fail(text + ": this device has no fp8");
    choose_row(&i, i.exact ? (i.saturates ? "int8:sat" : "int8") : mma_row(i), text);
    return i;
}

const instruction &mma_of(const char *text) {
    static std::map<std::string, instruction> known;
    const auto at = known.find(text);
    return at != known.end() ? at->second : known.emplace(text, read_mma(text)).first->second;
}

unsigned size_of(const ulp_format *f) { return f->bits == 19 ? 4 : f->bits / 8u; }

template <typename word> void read_values(double *x, const unsigned char *bytes, unsigned k, const double *values) {
    for (unsigned i = 0; i < k; i++) {
        word code;
        memcpy(&code, bytes + i * sizeof code, sizeof code);
        x[i] = values[code];
    }
}

/* The values x (k) of codes in memory. Of tf32 the upper 19 of 32 bits count. */
void read_row(double *x, const unsigned char *bytes, unsigned k, const ulp_format *f, const double *values) {
    if (f->bits == 8) read_values<uint8_t>(x, bytes, k, values);
    else if (f->bits == 16) read_values<uint16_t>(x, bytes, k, values);
    else
        for (unsigned i = 0; i < k; i++) {
            uint32_t code;
            memcpy(&code, bytes + 4 * i, 4);
            x[i] = ulp_decode(code >> 13, f);
        }
}

uint64_t code_of(double result, const ulp_datapath *d) {
    uint64_t code;
    if (ulp_datapath_code(&code, result, d) != ULP_OK) fail("a result has no code");
    return code;
}

/* The registers of a lane: four of A, two of B. */
struct operands {
    uint32_t a[4], b[2];
};

unsigned char byte_of(uint32_t reg, unsigned i) { return (unsigned char)(reg >> (8 * i)); }

/* to (bytes) = row i of A, or column j of B, from the registers of all lanes. */
void row_of_a(unsigned char *to, const operands *all, unsigned i, unsigned bytes) {
    for (unsigned at = 0; at < bytes; at++)
        to[at] = byte_of(all[i % 8 * 4 + at % 16 / 4].a[i / 8 + at / 16 * 2], at % 4);
}
void row_of_b(unsigned char *to, const operands *all, unsigned j, unsigned bytes) {
    for (unsigned at = 0; at < bytes; at++) to[at] = byte_of(all[j * 4 + at % 16 / 4].b[at / 16], at % 4);
}

/* The code of c + a (k) b (k). */
uint64_t dot(const instruction &in, uint64_t c, const unsigned char *a, const unsigned char *b) {
    double x[64], y[64];
    const ulp_datapath *d = &in.path;
    read_row(x, a, in.k, &d->a, in.a_values.data());
    read_row(y, b, in.k, &d->b, in.b_values.data());
    const ulp_products products = {x, y, in.k, nullptr, nullptr};
    const ulp_stream none = {0, 0, 0};
    return code_of(ulp_dot(d, ulp_decode(c, &d->result), products, none), d);
}

} // namespace

void ulp_emulated_mma(const char *text, uint32_t *d, const uint32_t *a, const uint32_t *b) {
    const instruction &in = mma_of(text);
    const unsigned bytes = in.k * size_of(&in.path.a), lane = ulp_emulated_lane();
    operands mine = {{0, 0, 0, 0}, {0, 0}}, all[32];
    if (bytes != 16 && bytes != 32) fail(std::string(text) + ": rows of another length");
    memcpy(mine.a, a, bytes / 2);
    memcpy(mine.b, b, bytes / 4);
    ulp_emulated_exchange(all, &mine, sizeof mine);
    const bool half = in.result == "f16";
    for (unsigned i = 0; i < 16; i++)
        for (unsigned j = 0; j < 8; j++) {
            if (lane != i % 8 * 4 + j / 2) continue;
            unsigned char x[32], y[32];
            row_of_a(x, all, i, bytes);
            row_of_b(y, all, j, bytes);
            if (half) {
                uint32_t *to = &d[i / 8];
                const unsigned shift = j % 2 * 16;
                const uint64_t code = dot(in, *to >> shift & 0xffffu, x, y);
                *to = (*to & ~(0xffffu << shift)) | (uint32_t)code << shift;
            } else {
                uint32_t *to = &d[i / 8 * 2 + j % 2];
                *to = (uint32_t)dot(in, *to, x, y);
            }
        }
}

/* A chain of fused multiply-adds over ascending k. */
void ulp_emulated_mma64(const char *text, double *d, double a, double b) {
    struct pair {
        double a, b;
    } mine = {a, b}, all[32];
    if (strcmp(text, "m8n8k4.row.col.f64.f64.f64.f64") != 0) fail(std::string(text) + ": not read");
    ulp_emulated_exchange(all, &mine, sizeof mine);
    const unsigned lane = ulp_emulated_lane();
    for (unsigned i = 0; i < 8; i++)
        for (unsigned j = 0; j < 8; j++)
            for (unsigned k = 0; lane == 4 * i + j / 2 && k < 4; k++)
                d[j % 2] = __builtin_fma(all[4 * i + k].a, all[4 * j + k].b, d[j % 2]);
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

/* ---- wgmma ---- */

namespace {

/* Addresses of shared memory have 18 bits: offsets in a window around the first array that a launch asks for. */
char *window;
unsigned window_launch;
enum { WINDOW = 1 << 18, MARGIN = 1 << 16 };

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

/* Work of a thread that is not finished, in groups: instructions, or copies. */
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

struct instruction_begun {
    const wgmma *what;
    uint32_t *d;
    uint64_t a, b;
    int keep;
    bool done;
    unsigned group; /* 0: not committed */
};
struct copy_begun {
    void *to;
    const void *from; /* NULL: zeros */
    unsigned group;
};
struct progress {
    bool fenced, proxied;
    queue<instruction_begun> instructions;
    std::map<uint32_t *, std::vector<uint32_t>> saved; /* D before the first of the instructions */
    queue<copy_begun> copies;
};
progress threads[1024];

/* A GPU may read and copy at once or as late as the wait: even warps do it at once, odd warps at the wait. */
bool is_early() { return threadIdx.x / 32 % 2 == 0; }

/* to (32) = row r of an operand in shared memory. The operand consists of core matrices of 8 rows of 16 bytes. In a row
 * of core matrices the distance is `leading` bytes, and in a column of core matrices it is `stride` bytes. */
void operand_row(unsigned char *to, uint64_t descriptor, unsigned r) {
    const unsigned base = (unsigned)(descriptor & 0x3fff) << 4, leading = (unsigned)(descriptor >> 16 & 0x3fff) << 4,
                   stride = (unsigned)(descriptor >> 32 & 0x3fff) << 4;
    if (descriptor >> 46 != 0) fail("a descriptor with a swizzle or an offset");
    for (unsigned half = 0; half < 2; half++)
        memcpy(to + 16 * half, window + base + (r >> 3) * stride + half * leading + (r & 7) * 16, 16);
}

/* d = the elements of D that this thread holds. */
void finish(const instruction_begun &p, std::vector<uint32_t> &d) {
    const wgmma &w = *p.what;
    const bool half = w.in.result == "f16";
    const unsigned thread = threadIdx.x % 128, lane = thread & 31, warp = thread >> 5;
    for (unsigned down = 0; down < 2; down++) {
        unsigned char x[32], y[32];
        const unsigned row = 16 * warp + 8 * down + (lane >> 2);
        operand_row(x, p.a, row);
        for (unsigned block = 0; block < w.n / 8; block++)
            for (unsigned side = 0; side < 2; side++) {
                operand_row(y, p.b, 8 * block + 2 * (lane & 3) + side);
                uint32_t &to = half ? d[2 * block + down] : d[4 * block + 2 * down + side];
                const unsigned shift = half ? 16 * side : 0;
                const uint32_t mask = half ? 0xffffu << shift : 0xffffffffu;
                const uint64_t code = dot(w.in, p.keep ? (to & mask) >> shift : 0, x, y);
                to = (to & ~mask) | (uint32_t)code << shift;
            }
    }
}

} // namespace

uint32_t ulp_emulated_shared_address(const void *p) {
    char *at = static_cast<char *>(const_cast<void *>(p));
    if (window_launch != ulp_emulated_launches) window = at - ((uintptr_t)at % 1024 + MARGIN);
    window_launch = ulp_emulated_launches;
    if (at < window || at >= window + WINDOW) fail("shared memory too far apart for descriptors");
    return (uint32_t)(at - window);
}

void ulp_emulated_proxy_fence(void) { threads[threadIdx.x].proxied = true; }
void ulp_emulated_wgmma_fence(void) { threads[threadIdx.x].fenced = true; }

void ulp_emulated_wgmma(const char *text, uint32_t *d, uint64_t a, uint64_t b, int keep) {
    progress &t = threads[threadIdx.x];
    const wgmma &w = wgmma_of(text);
    const size_t words = w.n / (w.in.result == "f16" ? 4 : 2);
    if (blockDim.y != 1 || blockDim.z != 1 || blockDim.x % 128 != 0)
        fail(std::string(text) + ": the block does not consist of whole warpgroups");
    if (!t.fenced || !t.proxied) fail(std::string(text) + ": there is no fence before the instruction");
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

/* ---- copies to shared memory ---- */

static void finish(const copy_begun &c) {
    if (c.from == nullptr) memset(c.to, 0, 16);
    else memcpy(c.to, c.from, 16);
}

void ulp_emulated_copy(void *to, const void *from, bool inside) {
    if ((uintptr_t)from % 16 != 0) fail("a copy of 16 bytes that is not aligned");
    ulp_emulated_shared_store(to, 16);
    const copy_begun c = {to, inside ? from : nullptr, 0};
    if (is_early()) finish(c);
    else memset(to, 0xba, 16);
    threads[threadIdx.x].copies.list.push_back(c);
}

void ulp_emulated_copy_commit(void) { threads[threadIdx.x].copies.commit(); }

void ulp_emulated_copy_wait(unsigned left) {
    progress &t = threads[threadIdx.x];
    t.copies.wait(left, [&](const copy_begun &c) {
        if (!is_early()) finish(c);
        t.proxied = false;
    });
}
