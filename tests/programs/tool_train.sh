#!/bin/sh
# tool_train.sh - ulp train: the same numbers from any number of threads, a second policy, new text, bad input.
. tests/programs/tool_support.sh

awk 'BEGIN { for (i = 0; i < 60; i++) print "ROMEO: a line of a short book, number " i * 37 % 101 "." }' >book.txt
gpt='train --set text --data book.txt --net embed32:34,pos64,fork,ln,attn2:causal,join,fork,ln,lin64,gelu,lin32,join,ln,unembed --batch 2 --steps 4 --every 1'

# ---- numbers ----

prints 'train: a net by its layers' 'test   loss .* % right' train --net fc16,relu,fc10 --steps 20
cp out whole
OMP_NUM_THREADS=1 "$ULP" train --net fc16,relu,fc10 --steps 20 >out
same whole out 'train: one thread computes the same'
ULPLAB_ISA=baseline "$ULP" train --net fc16,relu,fc10 --steps 20 >out
same whole out 'train: the smallest instruction set computes the same'
exits 'train: another seed' 0 train --net fc16,relu,fc10 --steps 20 --seed 2
holds 'train: another seed gives other numbers' ! cmp -s whole out

prints 'train: text has bits per character' 'bits per character' $gpt --policy nvfp4
cp out one
awk '/^step/ { bits = $4 / log(2); if ($5 - bits > 1e-4 || bits - $5 > 1e-4) bad = 1; n++ } END { exit n != 4 || bad }' FS='[ ,]+' one
verdict $? 'train: bits are the loss by the logarithm of 2'
exits 'train: a second policy from step 2 on' 0 $gpt --policy nvfp4 --tail 0.5:mixed:bf16
[ "$(grep '^step' out | head -2)" = "$(grep '^step' one | head -2)" ] && [ "$(grep '^step 4' out)" != "$(grep '^step 4' one)" ]
verdict $? 'train: it changes the steps from 2 on, and none before'
exits 'train: the same policy again' 0 $gpt --policy nvfp4 --tail 0.5:nvfp4
same one out 'train: it changes nothing'

# ---- new text ----

prints 'train: new text goes on from the prompt' '^ROMEO:' $gpt --sample 9 --prompt ROMEO: --temperature 0
[ "$(sed '1,/^$/d' out | tr -d '\n' | wc -c)" -le 15 ]
verdict $? 'train: 9 characters at most are new'
cp out one
exits 'train: new text for the second time' 0 $gpt --sample 9 --prompt ROMEO: --temperature 0
same one out 'train: the text is the same'

# ---- sums of matrix units, weights of one bit ----

prints 'train: block scales go to the unit apart' 'bits per character' $gpt --policy nvfp4,acc=b200-e2m1-nvf4
cp out one
ULPLAB_ISA=baseline "$ULP" $gpt --policy nvfp4,acc=b200-e2m1-nvf4 >out
same one out 'train: the smallest instruction set forms the same sums'
prints 'train: signs of weights by an integer unit' '% right' train --net fc16,relu,fc10 --steps 20 \
    --policy binaryconnect,fwd.x=int8@amax,fwd=int8 --optimizer adam,limit=1
prints 'train: --explain says that scales come later' 'h100-e4m3, of elements, then times scales' train --net fc16,relu,fc10 \
    --policy fp8-tensorwise,fwd=h100-e4m3 --explain
refuses 'train: numbers that are no integers' 'takes integers in q8.0' train --policy binaryconnect,fwd=int8
refuses 'train: blocks of another size' 'takes blocks of 16 numbers in e2m1' train --policy mxfp8,acc=b200-e2m1-nvf4

# ---- what is rounded where ----

prints 'train: --explain says the cast and its word' 'fwd *x *nvfp4/rne *(fwd.x)' train --net gpt --policy nvfp4 --explain
says 'train: and the layer' '^4 *attn4:causal ' out
holds 'train: --explain trains nothing' ! grep -q '^step' out

# ---- bad input: nothing is trained before it is refused ----

refuses 'train: a prompt of a character that the text lacks' "prompt: text has no character 'é'" $gpt --sample 9 --prompt 'é'
refuses 'train: new text of digits' 'sample: the set digits has no text' train --steps 2 --sample 9
refuses 'train: a share past the end' "tail '1.5:bf16' is not F:POLICY" train --tail 1.5:bf16
refuses 'train: a second policy without a share' "tail 'nvfp4' is not F:POLICY" train --tail nvfp4
refuses 'train: a second policy with other weights' 'give both policies master=none' train --tail 0.5:nvfp4
refuses 'train: no such policy' "no policy 'nope'; known: .*mxfp8, nvfp4, .*mode=" train --policy nope
refuses 'train: no such net' "no layer called 'nope'" train --net nope
refuses 'train: no such scaler' "'nope'" train --scaler nope
refuses 'train: no such optimizer' "'nope'" train --optimizer nope
refuses 'train: pictures for a net of tokens' 'wants numbers of tokens' train --net gpt --set digits
refuses 'train: no steps' 'steps 0: has to be a whole number from 1' train --steps 0

exit $failed
