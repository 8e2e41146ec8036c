#!/bin/sh
# tool_tree.sh - ulp probe --tree and --exec: summation trees, good programs, and programs that end, hang or print garbage.
# not with RUN: a program that it compiles is started by the tool
. tests/programs/tool_support.sh

# ---- trees of datapaths ----

tree_is() { # tree_is TEXT TREE SHAPE ARGUMENT...: the second and third line of the report
    text=$1 tree=$2 shape=$3
    shift 3
    "$ULP" probe --tree "$@" >out 2>err </dev/null
    got=$?
    [ $got -eq 0 ] && [ "$(sed -n 2p out)" = "$tree" ] && [ "$(sed -n 3p out | grep -c "$shape")" = 1 ]
    good=$?
    [ $good -eq 0 ] || { echo "# ulp probe --tree $*: exit $got"; head -3 out | sed 's/^/#   /'; sed 's/^/#   /' err; }
    verdict $good "$text"
}
tree_is 'h100: 16 products and the sum so far' '((c 0-15) 16-31)' '^fused sums of 16' h100-fp16 --k 32
tree_is 'the option --datapath does the same' '{c 0-47:16}' '^fused sums of 16' --datapath h100-fp16 --k 48
tree_is 'a100 without short forms' '(((c 0-7) 8-15) 16-23)' '^fused sums of 8' a100-fp16 --k 24 --plain
tree_is 'fp32 is serial' '{c 0-31}' '^serial: one product at a time, in the order of k$' fp32
tree_is 'pairwise' '(c <0-11>)' '^pairwise: .*; c is added last$' pairwise:fp32:rne --k 12
tree_is 'chunks of 4' '((c {0-3}) {4-7})' '^2 parts of 4 products, added one after the other; each part: serial$' chunk4:fp32:rne --k 8
tree_is 'blocks without loss' '[[c 0-3] 4-7]' '^blocks of 4: .* exactly' block4:fp32:rne --k 8
"$ULP" probe --tree pairwise:fp32:rne --k 4 | sed 1,4d >out
printf '    c  -----+\n    0  -+-+ +-\n    1  -+ +-+\n    2  -+-+\n    3  -+\n' >want
same want out 'the drawing of a pairwise sum'
"$ULP" probe --tree block2:fp32:rne --k 2 --csv >out
printf 'device,node,parent,kind,k,terms,height,line\n' >want
printf 'block2:fp32:rne,%s\n' 0,3,product,1,1,0,2 1,3,c,,1,0,0 2,3,product,0,1,0,1 '3,,exact sum,,3,1,1' >>want
sort out >a && sort want >b
if cut -d, -f1,4-8 a >a.cut && cut -d, -f1,4-8 b >b.cut; then same b.cut a.cut 'the nodes as a CSV'; fi
refuses 'integers show no order' 'int8: sums in q32.0:wrap lose no bits' probe --tree int8
refuses 'too many products for fp8' 'up to 255 products' probe --tree h100-e4m3 --k 400
refuses 'products that are never lost' 'no product of e2m1' probe --tree b200-e2m1-mxf4
refuses 'an unknown name' "no datapath 'h200'" probe --tree h200
refuses 'no name' 'needs the name' probe --tree
refuses 'two names' 'one thing is probed at a time' probe --tree fp32 --datapath fp32
refuses '--m of a sum that does not depend on it' 'go with cblas_sgemm' probe --tree h100-fp16 --m 8
refuses 'two words' 'one thing is probed at a time' probe --tree fp32 fp32
refuses '--k without --tree' '--k goes with --tree' probe --datapath fp32 --k 4
refuses '--k 0' '--k' probe --tree fp32 --k 0
refuses '--timeout without --exec' '--timeout goes with --exec' probe --tree fp32 --timeout 3

# ---- OpenBLAS ----

if "$ULP" probe --tree cblas_sdot --k 64 >out 2>err; then
    says 'cblas_sdot: the report names the library' '^cblas_sdot of OpenBLAS' out
    "$ULP" probe --tree cblas_sdot --k 64 --csv >out
    [ "$(grep -c ',product,' out)" = 64 ] && [ "$(grep -c ',c,' out)" = 0 ]
    verdict $? 'cblas_sdot: 64 products and no start value'
    "$ULP" probe --tree cblas_sgemm --k 64 --m 16 --n 16 --csv >out
    [ "$(grep -c ',product,' out)" = 64 ] && [ "$(grep -c ',c,' out)" = 1 ]
    verdict $? 'cblas_sgemm: 64 products and a start value'
else
    exits 'cblas_sdot without OpenBLAS' 3 probe --tree cblas_sdot
    says 'cblas_sdot: why not' 'OpenBLAS is not there' err
fi

# ---- programs ----

cat >sum.c <<'END'
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
static char line[1 << 20];
static float w[1 << 15];
int main(int argc, char **argv) {
    const char *how = argc > 1 ? argv[1] : "";
    int lines = 0;
    if (strcmp(how, "dies at once") == 0) return 3;
    if (strcmp(how, "closes its input") == 0) { close(0); sleep(100); }
    if (strcmp(how, "endless") == 0) for (;;) putchar('7');
    if (strcmp(how, "nothing") == 0) for (;;) pause();
    if (strcmp(how, "answers unasked") == 0) { puts("0"); fflush(stdout); }
    while (fgets(line, sizeof line, stdin) != NULL) {
        int n = 0;
        for (char *at = line, *end; (w[n] = strtof(at, &end)), end != at; at = end) n++;
        const int k = n / 2;
        const float *a = w + 1, *b = a + k;
        float s = w[0], even = 0, odd = 0;
        if (n % 2 == 0) return 9;
        for (int i = 0; i < k; i++)
            if (strcmp(how, "backwards") == 0) s += a[k - 1 - i] * b[k - 1 - i];
            else if (strcmp(how, "lanes") == 0) *(i % 2 ? &odd : &even) += a[i] * b[i];
            else if (strcmp(how, "ignores c") == 0) s = (i == 0 ? 0 : s) + a[i] * b[i];
            else s += a[i] * b[i];
        if (strcmp(how, "lanes") == 0) s += even + odd;
        if (strcmp(how, "changes its order") == 0 && lines % 2) {
            s = w[0];
            for (int i = k - 1; i >= 0; i--) s += a[i] * b[i];
        }
        lines++;
        if (strcmp(how, "dies midway") == 0 && lines == 5) return 4;
        if (strcmp(how, "crashes") == 0 && lines == 2) abort();
        if (strcmp(how, "garbage") == 0) puts("hello");
        else if (strcmp(how, "two numbers") == 0) puts("1 2");
        else if (strcmp(how, "two lines") == 0) puts("1\n2");
        else if (strcmp(how, "empty") == 0) puts("");
        else if (strcmp(how, "hangs later") == 0 && lines == 3) pause();
        else if (strcmp(how, "hex") == 0) printf("%a\r\n", s);
        else printf("%.9g\n", s);
        fflush(stdout);
        if (strcmp(how, "leaves") == 0) return 0;
        if (strcmp(how, "leaves a child") == 0 && lines == 1 && fork() == 0) { for (;;) pause(); }
    }
    return 0;
}
END
"${CC:-cc}" -O1 -D_POSIX_C_SOURCE=200809L -ffp-contract=off -w -o sum sum.c || exit 1
tree_is 'a program: serial' '{c 0-31}' '^serial' --exec ./sum
tree_is 'a program with hex answers and CRLF' '{c 0-9}' '^serial' --exec './sum hex' --k 10
tree_is 'a program: backwards' '{c 31-0}' 'backwards' --exec './sum backwards'
tree_is 'a program: two lanes' '(c ({0-62/2} {1-63/2}))' '^2 lanes: .*; c is added last$' --exec './sum lanes' --k 64
tree_is 'a program without c' '{0-31}' '^serial' --exec './sum "ignores c"'
says 'a program without c: the report says so' '32 products, c = 0' out
tree_is 'a line longer than a pipe' '{c 0-1599}' '^serial' --exec ./sum --k 1600
tree_is 'a program that leaves a child' '{c 0-9}' '^serial' --exec './sum "leaves a child"' --k 10
prints 'properties of a program' '^rounding  *rne ' probe --exec ./sum
says 'properties of a program: bits' '^bits kept  *23 ' out

fails() { # fails TEXT PATTERN MODE ARGUMENT...: exit 1 with one sentence, within seconds, and no process is left
    text=$1 pattern=$2 mode=$3
    shift 3
    exits "$text" 1 probe --tree --exec "./sum \"$mode\"" --timeout 0.5 "$@"
    [ ! -s out ] && [ "$(grep -c '^ulp probe: ' err)" = 1 ] && grep -q -- "$pattern" err
    good=$?
    [ $good -eq 0 ] || sed 's/^/#   /' out err
    verdict $good "$text: one sentence, no output"
}
fails 'a program that dies at once' 'ended with exit status 3 before its first answer' 'dies at once'
fails 'a program that dies midway' 'ended with exit status 4 after 4 answers' 'dies midway'
fails 'a program that crashes' 'signal 6) after 1 answer$' crashes
fails 'a program that leaves with unread input' 'ended with exit status 0 after 1 answer$' leaves
fails 'a program that prints words' "answered 'hello', which is not one number" garbage
fails 'a program that prints two numbers' "answered '1 2', which is not one number" 'two numbers'
fails 'a program that prints two lines' 'more than one line' 'two lines'
fails 'a program that prints an empty line' "answered '', which is not one number" empty
fails 'a program that prints nothing' 'gave no answer within 0.5 s' nothing
fails 'a program that hangs later' 'gave no answer within 0.5 s' 'hangs later'
fails 'a program without line breaks' 'without a line break' endless
fails 'a program that does not read' 'gave no answer within 0.5 s' 'closes its input'
fails 'a program that does not read a long line' 'gave no answer within 0.5 s' nothing --k 16000
fails 'an order that changes' 'the results fit no tree' 'changes its order'
exits 'a program that is not there' 1 probe --tree --exec ./nothing-there --timeout 2
says 'a program that is not there: why' 'exit status 127 (no such program)' err
exits 'properties of a program that dies' 1 probe --exec './sum "dies midway"'
holds 'properties of a program that dies: no table' [ ! -s out ]
refuses 'an empty command' 'the value is empty' probe --exec ''
refuses '--exec and --datapath' 'one thing is probed' probe --exec ./sum --datapath fp32
refuses '--timeout 0' '--timeout' probe --exec ./sum --timeout 0

# all programs have ended, also the child that one of them left
if [ -d /proc/self ]; then
    here=$(pwd -P) left=0
    for p in /proc/[0-9]*; do
        if [ "$(readlink "$p/exe" 2>/dev/null)" = "$here/sum" ]; then left=1; fi
    done
    verdict $left 'no process is left'
fi

# an interrupt ends the program, too
"$ULP" probe --tree --exec ./sum\ nothing >out 2>err </dev/null &
child=$!
sleep 0.5
kill -TERM $child
wait $child 2>/dev/null
[ $? -gt 128 ]
verdict $? 'SIGTERM ends the probe'
child=
if [ -d /proc/self ]; then
    sleep 0.2
    left=0
    for p in /proc/[0-9]*; do
        if [ "$(readlink "$p/exe" 2>/dev/null)" = "$(pwd -P)/sum" ]; then left=1; fi
    done
    verdict $left 'and its program'
fi

exit $failed
