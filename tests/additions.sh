#!/bin/sh
# additions.sh - in a copy of the tree, a new format is one row, and a new rounding mode is one row and two cases.
#
# The two cases are in the rounding and in the oracle. The copy is built without optimization, to save time. newrow.sh
# tests the rows of datapaths.
tree=$PWD
. tests/support.sh
for folder in formats kernels sim experiments plots; do cp -R "$tree/$folder" .; done
cp "$tree/Makefile" .
[ -e "$tree/config.mk" ] && cp "$tree/config.mk" .

# edit FILE AWK: the program AWK writes FILE anew
edit() { awk "$2" "$1" >edited && mv edited "$1"; }

# changed: the files of the copy that differ from the tree, with the number of different lines
changed() {
    for folder in formats kernels sim experiments plots; do
        diff -rq "$tree/$folder" "$folder"
    done | sed 's/.* and \(.*\) differ$/\1/' | while read -r file; do
        echo "$file $(diff "$tree/$file" "$file" | grep -c '^[<>]')"
    done
}

# the format toy5 has 5 bits: a sign, two of exponent and two of fraction; the mode rnz is to nearest, ties toward zero
edit formats/formats.c '/^static const row rows\[\]/ { inside = 1 }
    inside && /^};/ { print "    {{\"toy5\", \"toy\", \"a test\"}, 5, 3, 1, IEEE, ULP_NAN_IEEE},"; inside = 0 }
    { print }'
edit formats/round.h '{ print }
    /^    X\(ULP_RNA, / { print "    X(ULP_RNZ, \"rnz\", \"to nearest, ties toward zero\", 0, ULP_INWARD_NONE) \\" }
    /^    case ULP_RNA: return nu/ { print "    case ULP_RNZ: return (uint32_t)(nu > half) | ((uint32_t)(nu == half) & (uint32_t)(tail != 0));" }'
edit sim/reference.c '{ print }
    /^    case ULP_RNA: mpfr_round/ {
        print "    case ULP_RNZ:"
        print "        mpfr_round(s->z, s->x);"
        print "        mpfr_sub(s->x, s->z, s->x, MPFR_RNDN);"
        print "        if (mpfr_cmp_d(s->x, 0.5) == 0 || mpfr_cmp_d(s->x, -0.5) == 0) mpfr_sub_si(s->z, s->z, mpfr_sgn(s->x), MPFR_RNDN);"
        print "        break;"
    }
    /^    case ULP_RNA:$/ { print "    case ULP_RNZ:" }'
changed >files
[ "$(cat files)" = 'formats/formats.c 1
formats/round.h 2
sim/reference.c 6' ]
verdict $? 'a format is one line; a mode is two lines of round.h, and its oracle'

make -j"$(getconf _NPROCESSORS_ONLN)" MODE=release CC="${CC:-gcc}" CFLAGS=-O0 NVCC= STATIC=1 build/bin/ulp >log 2>&1
verdict $? 'the copy is built'
[ $failed -eq 0 ] || { grep -E 'error|\*\*\*' log | head -20 | sed 's/^/# /'; exit 1; }
ulp=build/bin/ulp

# rounds TEXT FORMAT MODE NUMBERS WANT: `ulp round` rounds NUMBERS to WANT
rounds() {
    got=$(printf '%s\n' $4 | "$ulp" round --format "$2" --mode "$3" --to value 2>err.txt | tr '\n' ' ')
    [ "$got" = "$5 " ] || { echo "# $4 gives '$got', not '$5'"; sed 's/^/# /' err.txt; }
    [ "$got" = "$5 " ]
    verdict $? "$1"
}
exits 2 'before, toy5 is no format' "$BIN/ulp" round --format toy5 /dev/null
rounds 'toy5 rounds' toy5 rne '1.1 1.125 1.2 0.1 3.6 3.75 -9' '1 1 1.25 0 3.5 inf -inf'
"$ulp" formats >out.txt && says '^toy5 ' out.txt 'ulp formats lists it'
exits 0 'toy5 equals MPFR in every mode' "$ulp" verify --format toy5 --sample 2000

exits 2 'before, rnz is no mode' "$BIN/ulp" round --format fp16 --mode rnz /dev/null
rounds 'rnz rounds ties toward zero' e4m3 rnz '1.0625 -1.0625 1.1875 1.07 -1.06 448 464 465' '1 -1 1.125 1.125 -1 448 448 448'
rounds 'the mode behind it is as before' e4m3 rz '1.0625 -1.0625 1.1875 1.07 1.24' '1 -1 1.125 1 1.125'
for isa in baseline avx2 avx512; do
    ULPLAB_ISA=$isa "$ulp" gemm --datapath fp32 --m 1 --n 1 --k 1 >/dev/null 2>&1 || { skip "rnz under $isa" 'this machine does not run it' && continue; }
    ULPLAB_ISA=$isa "$ulp" verify --mode rnz --sample 2000 >out.txt 2>err.txt
    [ $? -eq 0 ] && [ "$(grep -c '^PASS' out.txt)" -gt 60 ]
    verdict $? "rnz equals MPFR in every format, under $isa"
done
exits 2 'a mode that is none' "$ulp" round --format fp16 --mode nosuch /dev/null
says 'rnz' err.txt 'the refusal names it'

# 1.125 + 0.0625 is a tie between 1.125 (39) and 1.25 (3a)
for datapath in serial split kahan pairwise exact chunk3 block4; do
    [ "$(echo '39 18 38' | "$ulp" dot --datapath $datapath:e4m3:rnz)" = 39 ] && [ "$(echo '39 18 38' | "$ulp" dot --datapath $datapath:e4m3:rne)" = 3a ]
    verdict $? "$datapath rounds by rnz"
    for isa in baseline avx2 avx512; do
        ULPLAB_ISA=$isa "$ulp" gemm --datapath $datapath:fp16:rnz --m 5 --n 37 --k 30 2>err.txt | grep '^checksum' >>$datapath.txt
    done
    [ -s $datapath.txt ] && [ "$(sort -u $datapath.txt | wc -l)" -eq 1 ]
    verdict $? "$datapath gives the same product under every instruction set"
done
exit $failed
