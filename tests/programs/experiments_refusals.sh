#!/bin/sh
# experiments_refusals.sh - bad input of experiments: exit codes, messages, no file; data sets, formats, backends and --help of all.
SOURCES=$(pwd)/experiments
. tests/programs/support.sh

S=$BIN/stagnation
small="--formats binary16,e4m3,q8.8 --runs 300"
"$S" $small --quiet --shard 1/4 --out shard1.csv

# refusals
complains 2 "an unknown option" 'did you mean --formats?' "$S" --fromats binary16
complains 2 "an unknown format" "did you mean 'binary16'?" "$S" --formats binray16
says 'ulp help formats. lists them' err.txt "it says where the list is"
exits 2 "a bad ULPLAB_ISA" env ULPLAB_ISA=sse9 "$S"
complains 2 "an output that cannot be written" 'cannot write nowhere/x.csv.*--out' "$S" --quick --out nowhere/x.csv
[ -w /dev/full ] && exits 1 "a full disk" "$S" $small --quiet --out /dev/full
exits 0 "--start 10: the published numbers are not tested" "$S" --quick --start 10 --formats binary16 --out o.csv
says '^SKIP the published numbers' out.txt "and the run says so"
prints 0 "a single run" '(1 run: mean' "$S" --quick --runs 1 --formats binary16 --out o.csv

complains 2 "--merge of a file that is not there" 'cannot read nofile: ' "$S" --quick --merge nofile --out m.csv
exits 2 "--merge into a folder that is not there" "$S" $small --merge shard1.csv --out nowhere/x.csv
says 'cannot write nowhere/x.csv.*--out' err.txt "it says which and what to do"
complains 2 "--resume in a folder that is not there" 'cannot write nowhere/x.csv.*--out' "$S" $small --resume --out nowhere/x.csv
mkdir beside.run.json
exits 2 "a file beside the CSV whose name a folder has" "$S" $small --out beside.csv
says 'cannot write beside.run.json: Is a directory' err.txt "it is named before anything is computed"
holds "and nothing is written" [ ! -e beside.csv ]
complains 2 "timings are not cut into shards" 'run it whole' "$BIN/bench" --quick --shard 0/2

# bad texts of networks and optimizers end a run before it writes a file
for net in "gru0" "columns4 gru8" ""; do
    complains 2 "ctc --net '$net'" '^ctc: .*net' "$BIN/ctc" --quick --net "$net" --out bad.csv
done
for optimizer in "sdg" "sgd,rate=0.1" "sgd,kahan=1"; do
    exits 2 "ctc --optimizer '$optimizer'" "$BIN/ctc" --quick --optimizer "$optimizer" --recipes mixed:fp16 --out bad.csv
    says "^ctc: .*optimizer.*'$optimizer'" err.txt "it quotes what was given"
done
complains 2 "ctc --optimizer ''" '^ctc: --optimizer: the value is empty' "$BIN/ctc" --quick --optimizer "" --out bad.csv
complains 2 "ctc --set digits" 'strips mnist-strips' "$BIN/ctc" --quick --set digits --out bad.csv
many=$(awk 'BEGIN { for (i = 0; i < 200; i++) printf "tanh " }')
exits 2 "ctc --net of a thousand characters is read to its end" "$BIN/ctc" --quick --net "columns4 $many gru8 conv12@1" --out bad.csv
says 'a sequence of 11 x 1 x steps.* it is 12 x 1 x ' err.txt "it says what is wrong there"
exits 2 "gradient_underflow --net ''" "$BIN/gradient_underflow" --quick --net "" --out bad.csv
says "^gradient_underflow: --net: the value is empty" err.txt "it says why"
exits 2 "gradient_underflow with an unknown layer" "$BIN/gradient_underflow" --quick --net 'fc10 foo' --out refused.csv
says "^gradient_underflow: --net: no layer called 'foo'; known: " err.txt "it names the option and the layer"
exits 2 "gradient_underflow --formats e8m0" "$BIN/gradient_underflow" --quick --formats e8m0 --out bad.csv
says '^gradient_underflow: --formats e8m0: .* have a sign and a zero$' err.txt "it says why"
exits 2 "loss_scaling --policy with a datapath of no name" "$BIN/loss_scaling" --quick --policy mixed:fp16,acc=warp --out bad.csv
says "^loss_scaling: --policy: no datapath 'warp'; .ulp help datapaths. lists them$" err.txt "it says where they are listed"
for name in loss_scaling fixed_point; do
    exits 2 "$name --formats fp64" "$BIN/$name" --quick --formats fp64 --out bad.csv
    says "^$name: --formats binary64: has to lie within binary32" err.txt "it names the option that was given"
done
exits 0 "fixed_point with formats and modes in some places of --policy" "$BIN/fixed_point" --formats q2.14,e4m3 --modes sra/8 \
    --policy "weight=%,act=q6.10@amax/%,out=%,agrad=%,master=%" --epochs 1 --seeds 1 --out t.csv
says '^# policy in full: weight=q2.14/sra/8,act=q6.10@amax/sra/8,wgrad=binary32/rne,agrad=q2.14/sra/8,.*,master=q2.14/sra/8,.*,out=q2.14/sra/8,' \
    t.csv "FORMAT/MODE for %, MODE for % behind a /"
says '^# policy in full: weight=e4m3/sra/8,.*,agrad=e4m3:inf/sra/8,' t.csv "and gradients overflow, as they do without %"
exits 2 "fixed_point --policy with %/3" "$BIN/fixed_point" --policy "weight=%,act=%/3" --epochs 1 --out t.csv
says "^fixed_point: --policy: 'rne/3': random bits" err.txt "it says why"
# the first point of these runs is valid, a later point is not
exits 2 "fixed_point --optimizer kahan=1 with master weights" "$BIN/fixed_point" --quick --optimizer sgd,kahan=1 --policy mixed:fp16 --out bad.csv
says '^fixed_point: optimizer: kahan=1 takes the place of master weights' err.txt "it says why"
exits 2 "recurrence --optimizer kahan=1" "$BIN/recurrence" --quick --parts random,training --optimizer sgd,kahan=1 --out bad.csv
says '^recurrence: optimizer: kahan=1 takes the place of master weights' err.txt "it says why"
exits 2 "recipe --net fc7" "$BIN/recipe" --quick --net fc7 --out bad.csv
says '^recipe: the net.s last layer needs one output per class' err.txt "it says why"
exits 2 "fp8_accumulation --promote 33" "$BIN/fp8_accumulation" --quick --promote 33 --out bad.csv
says 'promote 33: has to be a multiple of 32' err.txt "it says which are"
complains 2 "order --datapath foo" "datapath: no datapath 'foo'$" "$BIN/order" --quick --datapath foo --out bad.csv
ls bad.* >left.txt 2>/dev/null
holds "no file is left" [ ! -s left.txt ]

"$S" --help >out.txt
holds "the exit statuses stand once in --help" [ "$(grep -ci '^exit: ' out.txt)" -eq 1 ]

# data sets are read only from the given folder
G=$BIN/gradient_underflow
mkdir empty copy
cp "$SOURCES/data/digits.csv" copy
complains 2 "--data of no folder" '^gradient_underflow: --data none: there is no such folder or file$' "$G" --quick --data none
complains 3 "--data of an empty folder" 'no digits.csv .* in empty or empty/digits$' "$G" --quick --data empty
exits 2 "--data without a name" "$G" --quick --data=
complains 3 "--set mnist without its files" 'each plain or .gz$' "$G" --quick --set mnist
exits 3 "--set mnist in an empty folder" "$G" --quick --set mnist --data empty
complains 2 "an unknown data set" "^gradient_underflow: --set: no data set 'cifar'$" "$G" --quick --set cifar
says '^known: digits mnist mnist-strips strips text$' err.txt "it lists the known ones, and says no more"
prints 0 "--help of an experiment with data" 'topics here: .*nets' "$G" --help
for set in $("$BIN/ulp" help data | sed -n 's/^\([a-z-]*\)  .*/\1/p'); do says " $set[] ]" out.txt "--help names the data set $set"; done
few="--quick --quiet --nets small --steps 6 --every 3"
"$G" $few --out shipped.csv
"$G" $few --data copy --out t.csv
same shipped.csv t.csv "the same data from another folder give the same CSV"
ULPLAB_DATA=empty "$G" $few --out t.csv
same shipped.csv t.csv "ULPLAB_DATA without the digits: the set that ships"
complains 3 "ULPLAB_DATA without MNIST" ' in empty or empty/mnist' env ULPLAB_DATA=empty "$G" --quick --set mnist
sed '1s/^0/1/' copy/digits.csv >empty/digits.csv
complains 2 "a damaged file" 'CRC-32' "$G" --quick --data empty
head -n 100 copy/digits.csv >empty/digits.csv
complains 2 "a truncated file" 'truncated: it ends after 100 of 1797 lines' "$G" --quick --data empty
complains 2 "a bad --net" "no layer called 'foo'; known: " "$G" --quick --net foo --out t.csv
if grep -q 'no such name' err.txt || [ -e t.csv.part ]; then verdict 1 "and says no more, and leaves no .part"
else verdict 0 "and says no more, and leaves no .part"; fi
complains 2 "--net beside --nets" 'give one of the two' "$G" --quick --net fc10 --nets gru
complains 2 "a network that is in no table" 'known: mlp ' "$G" --quick --nets lenet
complains 2 "a bad --policy" "no policy 'foo'; known: .*mode=$" "$BIN/loss_scaling" --quick --policy foo
for policy in mixed:fp16,acc=h100-bf16 mixed:fp16,acc=h100-e4m3 fp32,acc=a100-fp16 mixed:fp16,acc=h100-fp16; do # the last: e5m2@amax
    exits 2 "loss_scaling --policy $policy: the datapath does not take those formats" "$BIN/loss_scaling" --quick --policy $policy --out refused.csv
    says 'takes operands in' err.txt "and the sentence names what it takes"
    [ ! -e refused.csv ] && [ ! -e refused.csv.part ]
    verdict $? "and nothing is written"
done
for policy in mixed:fp16,agrad=e5m2 mixed:fp16,conv.wgrad=fp16@amax; do # other options decide these
    exits 2 "loss_scaling --policy $policy" "$BIN/loss_scaling" --quick --nets cnn --policy $policy --out refused.csv
    says '^loss_scaling: --policy: [aw]grad: --formats decides the formats of gradients, and --scalers their tensor scales' err.txt "it says what decides them"
    [ ! -e refused.csv ] && [ ! -e refused.csv.part ]
    verdict $? "and nothing is written"
done
exits 0 "loss_scaling --policy with the preset's agrad" "$BIN/loss_scaling" --quick --nets cnn --policy mixed:fp16,agrad=fp16/sr --list

mkdir closed && chmod 555 closed
if [ -w closed ]; then skip "results cannot be made" "root may write anywhere"
else
    (cd closed && "$BIN/ode" --quick) 2>err.txt >out.txt
    [ $? -eq 2 ]
    verdict $? "results cannot be made"
    says 'cannot write into a new folder results: Permission denied; choose another place with --out' err.txt "it says why"
fi
chmod 755 closed && rmdir closed

# `--formats all` selects the formats that an experiment can use; any other format is refused by name
for name in counting harmonic cartoon_sgd swamping sum_growth ode sr_bits stagnation gradient_underflow loss_scaling magnitudes \
    update_ratio fixed_point recurrence quantized_inference ctc all_reduce amp; do
    exits 0 "$name --formats all" "$BIN/$name" --quick --formats all --list
    [ $name = stagnation ] && continue
    complains 2 "$name --formats fp64" 'binary64' "$BIN/$name" --quick --formats fp64 --out f.csv
done
exits 0 "all_reduce over 1024 ranks in e4m3" "$BIN/all_reduce" --quick --formats e4m3,e4m3:sat --modes rne --orders tree --means after \
    --ranks 1024 --elements 1 --reductions ring:fp32 --train-ranks 1 --steps 1 --out t.csv
says '^# overflow of sums: e4m3=nan e4m3:sat=sat binary32=inf$' t.csv "the header says what sums that are too large become"
[ "$(sed -n 's/^1,tree:e4m3\(:sat\)*:rne,.*,after,1024,1,\([^,]*\),.*/\2/p' t.csv | tr '\n' ' ')" = 'nan 0.4375 ' ]
verdict $? "and so do the numbers"
exits 0 "counting with all formats" "$BIN/counting" --quick --formats all --terms 30 --limit 3000 --out t.csv
says '^# formats: binary32,tf32,.*,q4.0$' t.csv "the file lists those that counted"
complains 2 "quantized_inference --bits 2.5,2" '2.5: has to be a whole number' "$BIN/quantized_inference" --quick --bits 2.5,2
complains 2 "quantized_inference --bits 2,2" '2 is given twice' "$BIN/quantized_inference" --quick --bits 2,2

N="$BIN/gan"
exits 2 "gan with a generator of another shape" "$N" --quick --generator-net fc49,reshape1x7x7 --out bad.csv
says '^gan: --generator-net: makes samples of 1 x 7 x 7 (channels, height, width), the data have 1 x 8 x 8$' err.txt "it names both shapes"
exits 2 "gan with a discriminator of two numbers" "$N" --quick --discriminator-net fc2 --out bad.csv
says '^gan: --discriminator-net: has 2 outputs; a discriminator ends in one number, for example with fc1$' err.txt "it says what is allowed"
exits 2 "gan with a classifier of nine classes" "$N" --quick --classifier-net fc9 --out bad.csv
says '^gan: --classifier-net: .* it has 9, digits has 10 classes$' err.txt "it says why"
exits 2 "gan with an unknown layer" "$N" --quick --generator-net fc64,foo --out bad.csv
says "^gan: --generator-net: no layer called 'foo'; known: " err.txt "it names the option"
exits 2 "gan with too large a batch" "$N" --quick --batch 2000 --out bad.csv
says '^gan: --batch 2000: must be at most 1437, the training part$' err.txt "it says what is allowed"
exits 2 "gan that shows more samples than it judges" "$N" --quick --shown 30 --samples 20 --out bad.csv
says '^gan: --shown 30: must be at most 20, the value of --samples$' err.txt "it names both values"
exits 2 "gan with an optimizer that does not fit a variant" "$N" --quick --generator-optimizer sgd,kahan=1 --out bad.csv
says '^gan: --generator-optimizer, variant fp16-scaled: kahan=1 ' err.txt "it names the option and the variant"
holds "and nothing is written" [ ! -e bad.csv ]
# 12 images of 2 x 2 pixels for training and 12 for tests, with the label 1
mkdir tiny
for part in train t10k; do
    { printf '\000\000\010\003\000\000\000\014\000\000\000\002\000\000\000\002'; printf '%048d' 0; } >tiny/$part-images-idx3-ubyte
    { printf '\000\000\010\001\000\000\000\014'; printf '%012d' 0 | tr 0 '\001'; } >tiny/$part-labels-idx1-ubyte
done
exits 0 "gan with fewer digits than --shown" "$N" --set mnist --data tiny --batch 4 --variants digits --generator-net fc4,reshape1x2x2 --classifier-steps 2 --out t.csv
holds "every digit is written once" [ "$(grep -c ',pixel,' t.csv)" -eq 48 ]

complains 2 "swamping --chunks 1.5" '1.5: has to be a whole number' "$BIN/swamping" --quick --chunks 1.5
exits 2 "block_fma with a datapath of other inputs" "$BIN/block_fma" --quick --datapath h100-bf16
says 'h100-bf16: needs binary16 inputs' err.txt "it names it"
complains 2 "completions by a net without text" "the net has to end with a row of outputs" "$BIN/batch_invariance" --quick --net fc10 --out none.csv
complains 2 "more completions than held-out texts" "holds out 409 texts" "$BIN/batch_invariance" --quick --completions 9999 --out none.csv
exits 2 "trees of integers" "$BIN/trees" --quick --datapath int8
exits 2 "trees of several words" "$BIN/trees" --quick --datapath h100-bf16:words=2
exits 2 "multiword with block scales" "$BIN/multiword" --quick --datapath b200-e2m1-nvf4
exits 2 "multiword with a datapath that has words" "$BIN/multiword" --quick --datapath h100-bf16:words=2
exits 2 "multiword with 13 words" "$BIN/multiword" --quick --words 13
complains 2 "hardware_sr with one value" 'fractions' "$BIN/hardware_sr" --quick --fractions 1
exits 2 "units with a datapath of other inputs" "$BIN/units" --quick --datapath fp32,mi300-fp16
says 'mi300-fp16: needs bfloat16 inputs' err.txt "it names it"
exits 2 "fp8_accumulation with a datapath of other inputs" "$BIN/fp8_accumulation" --quick --datapath h100-fp16
says 'h100-fp16: needs e4m3 inputs' err.txt "it names it"
complains 2 "a promotion that cuts a block" 'promote 100' "$BIN/fp8_accumulation" --quick --promote 100

# a missing backend is refused with its reason before a file is written; so are an unknown backend, and the option in
# experiments without array operations
gpu=no
"$BIN/ulp" gemm --datapath fp32 --m 1 --n 1 --k 1 --backend cuda >out.txt 2>err.txt && gpu=yes
took=0
for source in "$SOURCES"/*/; do
    name=$(basename "$source")
    [ "$("$BIN/$name" --version 2>/dev/null | sed 's/.*, experiment //')" = "$name" ] || continue
    if "$BIN/$name" --help | grep -q '^  --backend '; then
        took=$((took + 1))
        exits 2 "$name --backend tpu" "$BIN/$name" --quick --backend tpu --out machine.csv
        known='^known: cpu cuda mpfr$'
        [ "$name" = bench ] && known='^known: cpu cuda$'
        says "$known" err.txt "it lists the known ones"
        if [ $gpu = yes ]; then skip "$name --backend cuda without a device" "there is one"; continue; fi
        complains 3 "$name --backend cuda" "^$name: --backend cuda: " "$BIN/$name" --quick --backend cuda --out machine.csv
        holds "and of no processor" ! grep -q 'instruction set' err.txt
    else
        complains 2 "$name --backend cpu" '--backend would change nothing here' "$BIN/$name" --quick --backend cpu --out machine.csv
    fi
done
holds "$took experiments take --backend" [ $took -ge 18 ]
set -- machine.csv*
holds "none of them writes a file" ! [ -e "$1" ]

# every experiment prints --help
for source in "$SOURCES"/*/; do
    name=$(basename "$source")
    [ "$("$BIN/$name" --version 2>/dev/null | sed 's/.*, experiment //')" = "$name" ] || continue
    prints 0 "$name --help" '^environment: ULPLAB_ISA' "$BIN/$name" --help
    says '^ *ULPLAB_CUDA_DEVICE' out.txt "$name --help names the device"
    exits 0 "$name --quick --list" "$BIN/$name" --quick --list
    exits 2 "$name --nonsense" "$BIN/$name" --nonsense
done

# a loop over all experiments with a seed goes on past those without random numbers
for name in hardware_sr trees; do
    exits 0 "$name --seed 5" "$BIN/$name" --quick --quiet --seed 5 --out seeded.csv
    says "^$name: note: --seed changes nothing here" err.txt "$name: a note says that the seed changes nothing"
    exits 2 "$name --seed without a value" "$BIN/$name" --quick --out seeded.csv --seed
done
exit $failed
