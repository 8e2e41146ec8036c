#!/bin/sh
# amp.sh - policies per layer and automatic mixed precision on the command line: the same bytes by hand, and refusals.

. tests/programs/support.sh

net="conv4@3p1 bn relu pool2 fc10"
exits 0 "ulp amp" "$BIN/ulp" amp --net "$net" --format fp16 --explain
says '^policy  mixed:binary16,bn.weight=fp32,bn.wgrad=fp32,bn.master=none$' out.txt "the policy"
says '^scaler  pytorch$' out.txt "the scaler"
says '^why     small gradients' out.txt "and why"
says '^1   bn  *norm  *follows  binary16 binary16  *0 ' out.txt "a line for each layer and operation"
policy=$(sed -n 's/^policy  //p' out.txt)

small="--quick --formats fp16 --ways amp --seeds 1 --steps 8 --quiet"
exits 0 "amp on a net" "$BIN/amp" $small --net "$net" --out derived.csv
exits 0 "amp with the derived policy passed by hand" "$BIN/amp" $small --net "$net" --policy "$policy" --scaler pytorch --out hand.csv
same derived.csv hand.csv "the same CSV"
exits 0 "amp with an edited policy" "$BIN/amp" $small --net "$net" --policy "$policy,last.*=fp32" --out edited.csv
cmp -s derived.csv edited.csv
[ $? -eq 1 ]
verdict $? "an edited policy gives other numbers"

L="$BIN/loss_scaling --quick --nets cnn --formats fp16 --scales 0 --scalers pytorch --steps 6 --seeds 1 --quiet"
$L --policy mixed:fp16 --out plain.csv
$L --policy 'fp32,*.*=mixed:fp16' --out all.csv
grep -v '^# policy' plain.csv >plain.txt
grep -v '^# policy' all.csv >all.txt
same plain.txt all.txt "a policy that says the same for all layers gives the bytes of the plain one"
says '^# policy in full: .*,\*\.\*=mixed:binary16/rne,' all.csv "the header has the selectors"

refused() { # refused TEXT POLICY
    complains 2 "--policy $2" "$1" $L --policy "$2" --out none.csv
    holds "nothing is written" [ ! -e none.csv ]
}
refused "'bn.' selects no layer; this net has conv, relu, pool, fc, numbers 0 to 6" 'mixed:fp16,bn.act=fp32'
refused "'7.' selects no layer" 'mixed:fp16,7.act=fp32'
refused "no format 'fp17' for act" 'mixed:fp16,conv.act=fp17'
refused "no key 'acts'; did you mean 'act'" 'mixed:fp16,conv.acts=fp16'
refused "before the point stands a kind of layer" 'mixed:fp16,Conv.act=fp16'
refused 'conv.act is given twice' 'mixed:fp16,conv.act=fp16,conv.act=bf16'
refused 'layer 0 (conv8@3p1): fwd=h100-fp16: takes operands in binary16' 'mixed:fp16,first.weight=bf16,conv.acc=h100-fp16'

refused 'conv.agrad=binary8p4uf: gradients need a format with a sign' 'mixed:fp16,conv.agrad=binary8p4uf'

# a policy that a later network refuses is refused before anything is written
exits 2 "a policy that the second network refuses" "$BIN/loss_scaling" --quick --nets cnn,gru --formats fp16 --scales 0 --scalers pytorch --steps 2 --seeds 1 --policy mixed:fp16,conv.act=bf16 --out later.csv
says "'conv.' selects no layer; this net has rows, gru" err.txt "it names the layers of that network"
[ ! -e later.csv ] && [ ! -e later.csv.part ]
verdict $? "nothing is written"
exits 2 "--amp beside --policy" "$BIN/loss_scaling" --quick --nets cnn --amp fp16 --policy mixed:bf16 --out none.csv
says 'give one of the two' err.txt "it says why"
exits 0 "amp with a network of its own: the claims about the networks of the table are skipped" "$BIN/amp" --quick --net 'fork conv4@3p1 shortcut conv4@1 join fc10' --steps 2 --seeds 1 --out own.csv
says '^SKIP amp in binary16 keeps half of the bytes' out.txt "and say so"

complains 2 "ulp amp in fixed point" 'automatic mixed precision in q8.8' "$BIN/ulp" amp --net fc10 --format q8.8
complains 2 "ulp amp of a net with an unknown layer" "no layer called 'foo'" "$BIN/ulp" amp --net 'fc10 foo' --format fp16
complains 2 "ulp amp with an unknown loss" "no loss 'foo'; known: " "$BIN/ulp" amp --net fc10 --format fp16 --loss foo
holds "nothing is printed" [ ! -s out.txt ]
exits 2 "ulp amp without a net" "$BIN/ulp" amp --format fp16
complains 2 "ulp amp --input 3x8" 'CxHxW' "$BIN/ulp" amp --net fc10 --format fp16 --input 3x8
exits 2 "amp --policy with two networks" "$BIN/amp" --quick --formats fp16 --policy mixed:fp16 --out none.csv
says 'take one network and one format' err.txt "it says why"
exits 2 "amp --formats q8.8" "$BIN/amp" --quick --formats q8.8 --out none.csv

# --amp of programs that train: the header has the derived policy, and the claims about binary32 are skipped
for case in "gradient_underflow --nets small --steps 4 --every 2 --formats fp16 --scales 0" "magnitudes --steps 4" \
    "update_ratio --steps 8 --looks 2 --net fc8,relu,fc10" "quantized_inference --epochs 1 --bits 8 --schemes symmetric" \
    "recurrence --parts trained --cells rnn --steps 32 --sequences 1 --batch 256 --piece 32 --hidden 4" \
    "all_reduce --elements 2 --ranks 2 --steps 2 --train-ranks 2 --modes rne --formats bf16 --net fc4,relu,fc10" \
    "loss_scaling --nets small --formats fp16 --scales 0 --scalers pytorch --steps 3"; do
    name=${case%% *}
    exits 0 "$name --amp fp16" "$BIN/$name" --quick ${case#* } --seeds 1 --amp fp16 --out t.csv
    says '^# amp .*: weight=binary16/rne,.*; scaler pytorch$' t.csv "the header has policy and scaler"
    holds "no claim about binary32 is tested" ! grep -q '^PASS' out.txt
done

for case in "gan --variants fp32 --steps 2 --every 1 --classifier-steps 2 --samples 20" "recipe --variants fp32 --epochs 2 --net fc4,relu,fc10" "fixed_point --formats q8.8 --modes rne --epochs 1 --net fc4,relu,fc10" \
    "ctc --cells gru --recipes fp32 --steps 2 --every 1 --outputs 8 --labels 5 --longest 5 --net columns4,%8,conv11@1"; do
    name=${case%% *}
    "$BIN/$name" --quick ${case#* } --seeds 1 --amp bf16 --quiet --out t.csv 2>err.txt # the runs are so small that claims may fail
    says '^# amp .*: weight=bfloat16/rne,.*; scaler none$' t.csv "$name --amp bf16: the header has policy and scaler"
    says '^\(amp\|[^#].*,amp\),' t.csv "and there are rows about amp"
done
complains 2 "--amp q8.8" "'q8.8': automatic mixed precision takes" "$BIN/recipe" --quick --amp q8.8 --out none.csv

exits 0 "--profile" "$BIN/loss_scaling" --quick --nets small --formats fp16 --scales 0 --scalers pytorch --steps 3 --seeds 1 --profile --out p.csv
says '^microseconds per step (3 steps of 1 training): fc64 relu fc64 relu fc10; ' out.txt "a table of times for each network and policy"
says '^  0  fc64 ' out.txt "with a row for each layer"
says '^net,policy,trainings,steps,number,layer,operation,seconds$' p.profile.csv "and a file with all of them"
"$BIN/loss_scaling" --quick --nets small --formats fp16 --scales 0 --scalers pytorch --steps 3 --seeds 1 --quiet --out q.csv
same p.csv q.csv "the CSV is the same without --profile"

exit $failed
