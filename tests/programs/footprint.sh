#!/bin/sh
# footprint.sh - the experiment footprint: claims, published counts, policies of its own, and what it refuses.

. tests/programs/support.sh

F=$BIN/footprint

exits 0 "footprint: every claim passes" "$F" --threads 2 --out whole.csv
if grep -q '^PASS' out.txt && ! grep -q '^FAIL\|^SKIP' out.txt; then verdict 0 "all are tested"; else verdict 1 "all are tested"; fi
says 'PREDICTED times' out.txt "its times are called predictions"
says '^net .* mixed-fp16  mixed-bf16 .* fp16  products: base' out.txt "the table of times has no column for a policy that the run lacks"
for row in alexnet:61100840 vgg16:138357544 resnet50:25557032; do
    says "^${row%:*},fp32,memory,,64,,,weights,${row#*:}," whole.csv "${row%:*}: the published parameters"
done
"$F" --threads 1 --quiet --out t.csv
same whole.csv t.csv "the same CSV with 1 thread"

# a policy under a name of its own has the numbers of the same policy under another name
small="--nets cnn,gru --large alexnet --policies mixed-fp16 --machines v100"
prints 0 "footprint --policy" '^net .* ms  mixed-fp16  *own  products: base' "$F" $small --policy mixed:fp16 --out own.csv
grep ',own,' own.csv | sed 's/,own,/,mixed-fp16,/' >own.txt
grep ',mixed-fp16,' own.csv >named.txt
[ -s own.txt ] && same own.txt named.txt "own: the rows of mixed-fp16"
exits 0 "footprint --policy with a selector" "$F" $small --policy 'mixed:fp16,last.*=fp32' --out own.csv
says '^alexnet,own,memory,,64,19,fc1000,weights,4097000,,16388000,' own.csv "the last layer has 4 bytes for each weight"
says '^alexnet,own,memory,,64,17,fc4096,weights,16781312,,33562624,' own.csv "other layers have 2"

refused() { # refused TEXT SENTENCE OPTION...
    text=$1 sentence=$2
    shift 2
    complains 2 "$text" "$sentence" "$F" "$@" --out refused.csv
    [ ! -e refused.csv ] && [ ! -e refused.csv.part ]
    verdict $? "nothing is written"
}
refused "an unknown network" "--nets: no choice 'foo'" --nets foo
refused "an unknown large network" "--large: no choice 'alexnot'; did you mean 'alexnet'?" --large alexnot
refused "an unknown policy" "--policies: no choice 'fp9'" --policies fp9
refused "an unknown machine" "--machines: no choice 'v101'; did you mean 'v100'?" --machines v101
refused "an unknown machine of the roofline" "--roofline: no choice 'tpu'" --roofline tpu
refused "a policy with an unknown format" "--policy: no format 'fp17'" --policy mixed:fp17
refused "a selector without a layer" "--policy and network mlp: 'bn.' selects no layer" --policy 'mixed:fp16,bn.*=fp32'
refused "a large batch of 0" "--large-batch" --large-batch 0

exit $failed
