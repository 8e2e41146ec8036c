/* replay.c - a goal executed: for each COUNT words of the standard input a line with assumed, code and spec. ASSUMED,
 * CODE and SPEC are the calls, with W(i) for word i.
 */
#include <inttypes.h>
#include <stdio.h>

#include "goal.c"

#define W(i) w[i]

int main(void) {
    uint64_t w[COUNT];
    for (int n = 0; scanf("%" SCNu64, &w[n]) == 1;) {
        n = (n + 1) % COUNT;
        if (n == 0) printf("%d %" PRIu64 " %" PRIu64 "\n", ASSUMED != 0, (uint64_t)CODE, (uint64_t)SPEC);
    }
    return 0;
}
