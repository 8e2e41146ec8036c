#!/bin/sh
# vectors.sh - ulp vectors: rows against `ulp round` and `ulp dot`, the same bytes everywhere, checksums, what NumPy reads.
. tests/programs/tool_support.sh

FORMATS=e4m3,q4.0,fp16
DATAPATHS=h100-e4m3,b200-e2m1-nvf4,serial:fp16:rz
write() { # write FOLDER OPTION...: a small set of vectors
    folder=$1
    shift
    "$ULP" vectors --format $FORMATS --datapath $DATAPATHS --sums 200 --sample 256 --out "$folder" "$@"
}

# ---- the same bytes, whatever computes them ----

OMP_NUM_THREADS=1 write one >report
verdict $? 'vectors of three formats and three datapaths'
says 'it says what it wrote' '^e4m3  *256 codes  *2547 inputs  *80 overflows  *[0-9]* stochastic' report
[ "$(find one -type f | wc -l)" -eq 22 ] # 5 files of a format, 2 of a datapath, datapaths.csv
verdict $? 'the files'
# every compiler has to write these bytes; a change of the choice of vectors changes the checksum
[ "$(cd one && find . -type f | LC_ALL=C sort | xargs cat | sha256sum | cut -c 1-16)" = 3481f20d6b921b21 ]
verdict $? 'the bytes are the known ones'
OMP_NUM_THREADS=2 write two >out && diff -r one two >err
verdict $? 'two threads give the same bytes'
ULPLAB_ISA=baseline write base >out && diff -r one base >err
verdict $? 'the baseline instruction set gives the same bytes'
write other --seed 2 >out && ! cmp -s one/datapaths/h100-e4m3.csv other/datapaths/h100-e4m3.csv &&
    cmp -s one/formats/e4m3.csv other/formats/e4m3.csv
verdict $? 'another seed draws other sums, and an 8-bit format has no sample'
"$ULP" vectors --format e3m2 --sample 16 --out six >out &&
    [ "$(awk -F, 'NR > 1 && $3 !~ /^[0-9a-f][0-9a-f]$/' six/formats/e3m2.csv | wc -l)" -eq 0 ] && grep -q ',3f,' six/formats/e3m2.csv
verdict $? 'a code of 6 bits has two digits'

# ---- words of the generator, which only the complete set has ----

"$ULP" vectors --sample 1 --sums 1 --out whole >out && [ -s whole/words.npz ]
verdict $? 'vectors of every format and datapath'
# the known answer of Random123 for key 0 and counter 0, and the checksum that every compiler has to write
[ "$(awk -F, '$1 $2 ~ /^0+$/ && $3 ~ /^0+[0-3]$/ { print $4 }' whole/words.csv | tr '\n' ' ')" = '6627e8d5 e169c58d bc57ac4c 9b00dbd8 ' ]
verdict $? 'words.csv has the known answer of Philox'
holds 'the bytes of words.csv are the known ones' [ "$(sha256sum <whole/words.csv | cut -c 1-16)" = 02baf201e01dcd95 ]

# ---- conversions against ulp round ----

# column FILE NAME: a column of a CSV
column() { awk -F, -v name="$2" 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == name) c = i; next } { print $c }' "$1"; }
# rounds TEXT FILE COLUMN OPTION...: the inputs of a CSV, rounded, are its column
rounds() {
    text=$1 file=$2 name=$3
    shift 3
    column "$file" binary64 >inputs && column "$file" "$name" >want && "$ULP" round --from f64 "$@" inputs >out 2>err
    [ -s want ] && cmp -s out want
    verdict $? "$text $name"
}
for format in e4m3 q4.0 binary16; do
    for mode in rne rna rz ru rd ro; do
        rounds "$format" one/formats/$format.csv $mode --format $format --mode $mode
        for policy in inf sat nan wrap; do
            case $format/$policy in q4.0/nan | e4m3/wrap | binary16/wrap) continue ;; esac
            rounds "$format overflow" one/formats/$format.overflow.csv ${mode}_$policy --format $format --mode $mode --overflow $policy
        done
    done
    column one/formats/$format.csv binary32 | grep . >inputs # the binary32 numbers among the inputs
    awk -F, 'NR > 1 && $2 != "" { print $3 }' one/formats/$format.csv >want
    "$ULP" round --from f32 --format $format inputs >out && [ -s want ] && cmp -s out want
    verdict $? "$format: the column binary32"
done
for name in value decimal; do
    grep -v nan one/formats/e4m3.codes.csv >numbers.csv && column numbers.csv code >want && column numbers.csv $name | "$ULP" round --format e4m3 >out
    [ "$(wc -l <want)" -eq 254 ] && cmp -s out want
    verdict $? "the codes of e4m3 have the column $name"
done

# every midpoint of e4m3 and its two binary32 neighbours are there: 253 finite values, one of them zero, have 252
column one/formats/e4m3.codes.csv decimal | sed '/nan/d; s/^-0$/0/' | sort -gu | awk 'NR > 1 { printf "%.17g\n", (x + $1) / 2 } { x = $1 }' >midpoints
"$ULP" round --format fp32 midpoints | sort >wanted && column one/formats/e4m3.csv binary32 | sort >have
[ "$(wc -l <midpoints)" -eq 252 ] && [ -z "$(comm -23 wanted have)" ]
verdict $? 'every midpoint of e4m3 is an input'
while read -r x; do printf '%08x\n%08x\n' $((0x$x + 1)) $((0x$x - 1)); done <wanted | sort >neighbours
holds 'and the binary32 numbers on both sides of it' [ -z "$(comm -23 neighbours have)" ]

# ---- stochastic conversions ----

# the code below in magnitude, and one more if floor(nu 256) + R >= 256
awk -F, 'NR > 1' one/formats/e4m3.stochastic.csv >rows
column one/formats/e4m3.stochastic.csv binary64 >inputs
"$ULP" round --from f64 --format e4m3 --mode rz inputs >low && "$ULP" round --from f64 --format fp64 --to value inputs >x
"$ULP" round --from f64 --format e4m3 --mode rz --to value inputs >down
paste -d ' ' x down low rows >all
awk -F '[ ,]' 'function hex(s, i, n) { for (i = 1; i <= length(s); i++) n = 16 * n + index("0123456789abcdef", substr(s, i, 1)) - 1; return n }
    {
        x = $1 < 0 ? -$1 : $1; d = $2 < 0 ? -$2 : $2
        if (d >= 448) next
        ulp = 1 / 512
        while (d >= 16 * ulp) ulp *= 2
        up = int((x - d) / ulp * 256) + hex(substr($6, 1, 2)) >= 256
        n++
        if (hex($7) != hex($3) + up) { bad++; print }
    }
    END { print "rows", n; exit bad > 0 || n < 500 }' all >out
verdict $? 'sra by the rule of the README'
for mode in sra srb src; do
    ! column one/formats/e4m3.stochastic.csv $mode | cmp -s - low
    verdict $? "$mode rounds some of them up"
done

# ---- sums against ulp dot ----

# dots NAME OPTION...: the sums of a CSV by ulp dot
dots() {
    name=$1
    shift
    column one/datapaths/$name.csv result >want
    awk -F, 'NR == 1 { scales = NF == 8; next } { print $3, $4, $5 (scales ? " / " $6 " / " $7 : "") }' one/datapaths/$name.csv |
        "$ULP" dot "$@" >out 2>err
    [ "$(wc -l <want)" -eq 200 ] && cmp -s out want
    verdict $? "$name: ulp dot gives the results"
}
dots h100-e4m3 --datapath h100-e4m3
dots b200-e2m1-nvf4 --datapath b200-e2m1-nvf4
dots serial_fp16_rz --datapath serial:fp16:rz
# a model that keeps a bit more or less, or has other steps, gives other results
for wrong in h100-e4m3:F=12 h100-e4m3:F=14 h100-e4m3:kept=12 h100-e4m3:L=16 b200-e4m3; do
    awk -F, 'NR > 1 { print $3, $4, $5 }' one/datapaths/h100-e4m3.csv | "$ULP" dot --datapath $wrong >out && ! column one/datapaths/h100-e4m3.csv result | cmp -s - out
    verdict $? "the vectors of h100-e4m3 refute $wrong"
done
awk -F, 'NR > 1 && split($4, a, " ") != $2 || NR > 1 && split($5, a, " ") != $2' one/datapaths/h100-e4m3.csv >out && [ ! -s out ]
verdict $? 'k counts the products'
for kind in random near cancel subnormal edge special carry zero; do
    holds "an eighth of the sums is $kind" [ "$(column one/datapaths/h100-e4m3.csv kind | grep -cx $kind)" -eq 25 ]
done
"$ULP" vectors --datapath serial:fp32:rne --in e4m3 --sums 8 --out in >out && [ -s in/datapaths/serial_fp32_rne-e4m3.npz ] &&
    grep -q '^serial:fp32:rne,datapaths/serial_fp32_rne-e4m3.npz,e4m3,e4m3,binary32,' in/datapaths.csv
verdict $? '--in'

# ---- MPFR ----

write checked --check >out 2>err
case $? in
0) diff -r one checked >err && says 'every result is that of MPFR' '^e4m3 .* 5[0-9]* results as MPFR gives them' out ;;
3) says 'without MPFR --check says so' 'no MPFR' err; skip 'every result is that of MPFR' 'no MPFR' ;;
*) verdict 1 'every result is that of MPFR' ;;
esac

# ---- the release ----

BIN=$BIN OUT=release COMMIT=abc CHECK= OPTIONS="--format $FORMATS --datapath $DATAPATHS --sums 200 --sample 256" sh "$tree/tool/vectors/make.sh" >out 2>err
verdict $? 'the release'
[ "$(find release -type f | wc -l)" -eq 27 ] && (cd release && sha256sum -c SHA256SUMS) >/dev/null && [ "$(wc -l <release/SHA256SUMS)" -eq 26 ]
verdict $? 'its checksums hold'
for part in formats datapaths; do diff -r one/$part release/$part >err; verdict $? "its $part"; done
says 'its README names the version' "^# Golden vectors of ulplab $("$ULP" --version | cut -d ' ' -f 3)\$" release/README.md
holds 'and has no open place' ! grep -q '@' release/README.md
grep -q '^e4m3,' release/formats.csv && grep -q '^h100-e4m3,' release/datapaths.csv && grep -q '2511.10909' release/datapaths.txt
verdict $? 'its lists of formats and datapaths'

# ---- refusals ----

refuses 'no folder' '--out' vectors --format e4m3
: >file
refuses 'a folder that is a file' 'file' vectors --format e4m3 --out file
refuses 'no sums' '--sums 0' vectors --datapath fp32 --sums 0 --out v
refuses 'an unknown format' 'e99m9' vectors --format e99m9 --out v
refuses '--in with a datapath that has an input format' '--in' vectors --datapath h100-e4m3 --in fp16 --out v
refuses '--in without a datapath' '--in' vectors --format e4m3 --in fp16 --out v
holds 'a refused command makes no folder' [ ! -e v ]

# ---- NumPy ----

python=${PYTHON:-python3}
if "$python" -c 'import numpy' 2>/dev/null; then
    "$python" - one <<'PYTHON' >out 2>err
import csv, glob, sys
import numpy as np

def rows(path):
    with open(path) as f:
        return list(csv.DictReader(f))

def same(array, cells):
    assert array.tolist() == [int(c, 16) for c in cells], "differs"

def same_input(array, cells):
    same(array.view(np.uint64), cells)

for path in glob.glob(sys.argv[1] + "/formats/*.npz"):
    v, base = np.load(path), path[:-4]
    codes = rows(base + ".codes.csv")
    same(v["code"], [r["code"] for r in codes])
    want = np.array([float.fromhex(r["value"]) for r in codes])
    assert np.array_equal(v["value"], want, equal_nan=True) and np.array_equal(np.signbit(v["value"][want == 0]), np.signbit(want[want == 0]))
    for file, before in ((".csv", ""), (".overflow.csv", "overflow_"), (".stochastic.csv", "stochastic_")):
        table = rows(base + file)
        same_input(v[before + "x"], [r["binary64"] for r in table])
        narrow = v[before + "x"].astype(np.float32)
        for x, y, r in zip(v[before + "x"], narrow, table):
            assert (r["binary32"] != "") == (x == y or np.isnan(x)), "binary32"
            assert r["binary32"] == "" or int(r["binary32"], 16) == int(y.view(np.uint32)), "binary32"
        for name in table[0]:
            if name not in ("binary64", "binary32"):
                same(v[before + name], [r[name] for r in table])
for path in glob.glob(sys.argv[1] + "/datapaths/*.npz"):
    v, table = np.load(path), rows(path[:-4] + ".csv")
    for name, start in (("a", "start"), ("b", "start"), ("a_scales", "scale_start"), ("b_scales", "scale_start")):
        if name in table[0]:
            for i, r in enumerate(table):
                same(v[name][v[start][i]:v[start][i + 1]], r[name].split())
    for name in ("c", "result"):
        same(v[name], [r[name] for r in table])
print("same")
PYTHON
    [ "$(cat out)" = same ] || sed 's/^/# /' err
    holds 'NumPy reads the numbers of the CSVs' [ "$(cat out)" = same ]
else
    skip 'NumPy reads the numbers of the CSVs' 'no python3 with numpy'
fi
exit $failed
