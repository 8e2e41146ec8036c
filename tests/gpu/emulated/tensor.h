/* tensor.h - models, shared memory, fences, shared by the Tensor Core instructions of the emulated device. */
#ifndef ULP_EMULATED_TENSOR_H
#define ULP_EMULATED_TENSOR_H

#include "cuda_runtime.h"
#include "kernels/products/datapath.h"

#include <string>
#include <vector>

namespace tensor {

[[noreturn]] void fail(const std::string &text);

/* ---- models (tensor.cpp) ---- */

/* An instruction: its k, and the types of A, B and the result. */
struct instruction {
    unsigned k;
    std::string result, a, b;
    bool saturates, exact;
    ulp_datapath path;
    std::vector<double> a_values, b_values; /* the value of each code; empty for codes of more than 16 bits */
};

/* The name of a type in names of datapaths. */
std::string project_name(const std::string &type);
/* Chooses the row that models the instruction. `text` names the instruction where there is no such row. */
void choose_row(instruction *i, const std::string &name, const std::string &text);
/* Bytes of a code of whole bytes. */
unsigned size_of(const ulp_format *f);
/* The values x (k) of codes of whole bytes in memory. Of tf32 the upper 19 of 32 bits count. */
void read_row(double *x, const unsigned char *bytes, unsigned k, const ulp_format *f, const double *values);
/* The code of c + the products; c is a code. */
uint64_t dot(const instruction &in, uint64_t c, const ulp_products &products);

/* ---- shared memory (shared.cpp) ---- */

/* The bytes at an address of shared memory. */
const unsigned char *shared_bytes(unsigned address);
/* to (32) = row r of an operand in shared memory, 32 bytes of k. The operand consists of core matrices of 8 rows of 16
 * bytes. In a row of core matrices the distance is `leading` bytes, and in a column of core matrices `stride` bytes. */
void operand_row(unsigned char *to, uint64_t descriptor, unsigned r);

/* ---- barriers (barriers.cpp) and instructions that arrive there (tcgen05.cpp) ---- */

/* Ends the program if there is no barrier, or no fence after its init. */
void check_barrier(uint64_t *at);
/* Ends the program if a copy has not arrived, at the end of a block. */
void check_copies(void);
/* Instructions that were committed to the barrier have ended. */
void instructions_arrive(uint64_t *at);
/* Carries out the first instruction that waits, if a commit to the barrier waits. Returns whether one did. */
bool advance_instructions(uint64_t *at);
/* The thread has waited for instructions, and owes a fence. */
void instructions_waited(void);

} // namespace tensor

#endif
