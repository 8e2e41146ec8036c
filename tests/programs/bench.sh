#!/bin/sh
# bench.sh - the benchmark runs, with its options and with a worker of another library, and writes its files; the scripts
# that record a run and compare two runs take good files and refuse bad ones. No timing decides a test.
# modes: release debug

SOURCES=$(pwd)/experiments/bench
. tests/programs/support.sh

small='--quick --quiet --rounds 1 --seconds 0.001 --threads 2 --cache 64 --memory 4096 --size 16 --sizes 8 --bits 8 --formats fp16 --modes rne,sr
    --datapath fp32,serial:fp16:sr,int8,b200-e2m1-nvf4'
# a worker that offers two pieces of work, and says one millisecond
printf '%s\n' 'printf "round\tbinary16\trne\tMade 1\nproduct\tfp32\t\tMade 1\nready\n"' 'while read -r line; do echo 1e-3 1e-3; done' >worker.sh
exits 0 "every part, with a worker of another library" "$BIN/bench" $small --peers "sh worker.sh" --out b.csv
awk -F, '!/^#/ { if (!n++) { for (i = 1; i <= NF; i++) at[$i] = i; next }
    bad += NF != 18 || !($at["rate"] > 0 && $at["q1"] <= $at["rate"] && $at["rate"] <= $at["q3"]) || ($at["beside"] != "") != ($at["ratio"] > 0) }
    END { exit !(n > 40) || bad }' b.csv
verdict $? "every row has a rate between its quartiles, and a ratio if it stands beside another"
for row in 'rounding in the first-level cache,count,binary16,sra,ulplab,' 'rounding in memory,round,binary16,rne,ulplab,2,' \
    'products under datapaths,product,b200-e2m1-nvf4,,ulplab,' 'products of size 8,product,fp32,,Made 1,2,' \
    'training steps,step,784-1000-1000-10,q8.8/sra,ulplab,2,' 'rounding beside other libraries,round,binary16,rne,Made 1,1,65536,'; do
    says "^$row" b.csv "there is a row $row"
done
# a call of the worker takes a millisecond
says '^rounding beside other libraries,round,binary16,rne,Made 1,1,65536,Gelements/s,0.065536' b.csv "the worker's time is its rate"
exits 3 "a worker that ends is refused" "$BIN/bench" $small --parts libraries --peers "printf 'round\tbinary16\trne\tx\nready\n'" --out none.csv
says "^bench: --peers printf.*failed at round binary16 rne" err.txt "with its command and the work"
exits 3 "a worker that does not start is refused" "$BIN/bench" $small --peers "./nothing" --out none.csv
exits 2 "the part of libraries needs workers" "$BIN/bench" $small --parts libraries --out none.csv
[ ! -e none.csv ] && [ ! -e none.json ]
verdict $? "and nothing is written"

# two made files: one row is faster, one slower, one within its quartiles, one slower as its memcpy is; one is new
made() { # made FILE ROW...: a row is WORK RATE Q1 Q3 BESIDE Q1 Q3
    file=$1
    shift
    {
        printf '{\n  "program": "bench",\n  "commit": "%s",\n  "commit_date": "2026-01-02",\n  "date": "now",\n  "processor": "Made",\n' "$file"
        printf '  "isa": "avx2",\n  "compiler": "gcc",\n  "flags": "-O3",\n  "load_before": "0.10",\n  "threads": 1,\n  "rows": [\n'
        for row; do
            set -- $row
            printf '    {"group": "g", "what": "%s", "of": null, "mode": null, "by": "ulplab", "threads": 1, "n": 8, "unit": "Gelements/s", "rate": %s, "q1": %s, "q3": %s, "rounds": 3, "beside": "%s", "relation": "speed", "ratio": %s, "ratio_q1": %s, "ratio_q3": %s, "goal": 0.5},\n' \
                "$1" "$2" "$3" "$4" "$5" "$6" "$6" "$7"
        done | sed '$ s/,$//'
        printf '  ]\n}\n'
    } >"$file"
}
made old.json 'up 10 9 11 fp32 1 1' 'down 10 9 11 memcpy 0.5 0.6' 'same 10 9 11 memcpy 0.5 0.6' 'busy 10 9 11 memcpy 0.5 0.6' 'gone 1 1 1 fp32 1 1'
made new.json 'up 20 19 21 fp32 1 1' 'down 5 4 6 memcpy 0.2 0.3' 'same 12 10.9 13 memcpy 0.7 0.8' 'busy 5 4 6 memcpy 0.5 0.6' 'fresh 1 1 1 fp32 0.4 1'
compare() { sh "$SOURCES/compare.sh" "$@"; }
record() { sh "$SOURCES/record.sh" "$@"; }
exits 0 "two files are compared" compare old.json new.json
sed -n '/^Faster/,/^$/p' out.txt | grep -q '^  up ' && sed -n '/^Slower/,/^$/p' out.txt | grep -q '^  down ' && ! grep -q '^  \(same\|busy\) ' out.txt
verdict $? "rows changed if their quartiles lie apart, beside memcpy too"
says '^4 rows in both files: 1 faster, 1 slower, 2 within noise. Only old: 1, only new: 1.$' out.txt "and they are counted"
exits 0 "a file beside itself" compare b.json b.json
says ' 0 faster, 0 slower, ' out.txt "has no changes"
sed '$d' new.json >cut.json
: >empty.json
for bad in cut.json empty.json worker.sh nofile .; do
    exits 2 "compare refuses $bad" compare old.json "$bad"
    says "^bench-compare: .*$bad" err.txt "and names it"
    exits 2 "in the other place, too" compare "$bad" new.json
    exits 2 "so does record" record "$bad" record.md
    says "^bench-record: .*$bad" err.txt "and names it"
done
exits 2 "compare needs two files" compare old.json ''
[ ! -e record.md ] && [ ! -e record.md.tmp ]
verdict $? "a bad file makes no record"
record b.json record.md >/dev/null && record old.json record.md >/dev/null && cp record.md first.md && record new.json record.md >/dev/null
verdict $? "runs are recorded"
[ "$(grep -c '^## ' record.md)" -eq 2 ] && grep -qx '## Made, avx2, gcc' record.md && ! grep -q 'old.json' record.md &&
    grep -qF '| fresh | 1 | 8 | 1 (1 to 1) | speed / fp32 | 0.4 (0.4 to 1) | at least 0.5: missed |' record.md
verdict $? "a section replaces the one of the same processor, instruction set and compiler"
record old.json record.md >/dev/null
same first.md record.md "and the same run gives the same record"
exit $failed
