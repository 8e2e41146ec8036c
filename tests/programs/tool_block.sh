#!/bin/sh
# tool_block.sh - ulp block: results computed by hand, unusual lines, bad input.
. tests/programs/tool_support.sh

# ---- block ----

gives 'block: mxfp4, a scale of 1: a small neighbour is lost' 0 '6.4\n-1.7\n0.1\n' '7f 7 6\n7f b -1.5\n7f 0 0\n' block --format mxfp4 --to both
gives 'block: 0.7 is 5.6 2^-3' 0 '0.7\n' '7c 7 0.75\n' block --format mxfp4 --to both
gives 'block: codes are the default' 0 '6.4\n-1.7\n' '7f 7\n7f b\n' block --format mxfp4
gives 'block: values' 0 '6.4\n-1.7\n' '6\n-1.5\n' block --format mxfp4 --to value
gives 'block: e4m3 has no 9.5, ties to even' 0 '256\n-9.5\n' '7f 78 256\n7f d2 -10\n' block --format mxfp8-e4m3 --to both
gives 'block: six bits take two digits' 0 '28\n-0.0625\n' '7f 1f 28\n7f 21 -0.0625\n' block --format mxfp6-e3m2 --to both
gives 'block: mxint8' 0 '1\n-0.5\n0x1p-6\n' '7f 40 1\n7f e0 -0.5\n7f 01 0.015625\n' block --format mxint8 --to both
gives 'block: hex floats, signs, DOS, spaces, comments' 0 '# a\n 0x1.8p2\r\n\n+4\n' '7f 7\n7f 6\n' block --format MXFP4
gives 'block: modes' 0 '4\n2.1\n-2.1\n' '4\n2\n-3\n' block --format mxfp4 --mode rd --to value

rule_values() { # rule_values RULE OF_5 OF_6.5 OF_7
    for pair in 5=$2 6.5=$3 7=$4; do
        gives "block: mxfp4:$1 of ${pair%%=*}" 0 "${pair%%=*}\n" "$(echo "${pair#*=}" | tr , ' ')\n" block --format mxfp4:$1 --to both
    done
}
rule_values floor 7f,6,4 7f,7,6 7f,7,6
rule_values ceil 80,4,4 80,5,6 80,6,8
rule_values even 7f,6,4 7f,7,6 80,6,8
rule_values noclip 7f,6,4 80,5,6 80,6,8
for rule in floor=38,7,6 ceil=39,7,6.75 even=38,7,6 noclip=39,7,6.75; do
    gives "block: nvfp4:${rule%%=*}, 6.375 is between scales of 1 and 1.125" 0 '6.375\n' "$(echo "${rule#*=}" | tr , ' ')\n" block --format nvfp4:${rule%%=*} --to both
done

awk 'BEGIN { for (i = 0; i < 32; i++) print 1; print "# c"; print 6 }' >ragged
gives 'block: the last block may be short' 0 '' "$(awk 'BEGIN { for (i = 0; i < 32; i++) printf "7d 6\\n" }')7f 7\n" block --format mxfp4 ragged
printf '5\n' >five
gives 'block: a block goes on in the next file' 0 '0.25\n' '7f 6 4\n7f 0 0\n7f 6 4\n' block --format mxfp4 --to both five - five
gives 'block: empty input' 0 '# 1\n' '' block --format mxfp4
gives 'block: zeros' 0 '0\n-0\n' '00 0 0\n00 8 -0\n' block --format mxfp4 --to both
gives 'block: zeros of nvfp4' 0 '0\n-0\n' '01 0 0\n01 8 -0\n' block --format nvfp4 --to both
gives 'block: zeros of mxint8' 0 '0\n-0\n' '00 00 0\n00 00 0\n' block --format mxint8 --to both
gives 'block: NaN and Inf in e4m3 are NaN' 0 '1\nnan\n-inf\n' '77 78 1\n77 7f nan\n77 7f nan\n' block --format mxfp8 --to both
gives 'block: e5m2 has infinities' 0 '1\nnan\n-inf\n' '70 78 1\n70 7e nan\n70 fc -inf\n' block --format mxfp8-e5m2 --to both
gives 'block: NaN in e2m1 takes the block with it' 0 '1\nnan\n-2\n' 'ff 0 nan\nff 0 nan\nff 0 nan\n' block --format mxfp4 --to both
gives 'block: so does Inf' 0 '1\n-inf\n' '7f 0 nan\n7f 0 nan\n' block --format nvfp4 --to both
gives 'block: Inf saturates on request' 0 '1\n-inf\n' '7d 6 1\n7d f -1.5\n' block --format mxfp4 --overflow sat --to both
{ cat ragged; awk 'BEGIN { for (i = 0; i < 31; i++) print "inf" }'; echo 2; } >infinite
"$ULP" block --format mxfp4 --to value infinite >out 2>err
[ "$(sort out | uniq -c | xargs)" = '32 1 1 2 32 nan' ] && [ "$(tail -n 1 out)" = 2 ]
verdict $? 'block: the blocks beside it are not touched'
gives 'block: mxint8 clamps' 0 '1.9921875\n-1.9921875\n' '7f 7f 1.984375\n7f 81 -1.984375\n' block --format mxint8 --to both
gives 'block: mxint8 wraps around on request' 0 '1.9921875\n' '7f 80 -2\n' block --format mxint8 --overflow wrap --to both
gives 'block: past binary32 only the value is infinite' 0 '1e39\n1\n' 'f1 7a inf\nf1 00 0\n' block --format mxfp8-e5m2 --to both
gives 'block: the quotient is rounded once' 0 '0.25000001\n6\n' '0.5\n6\n' block --format mxfp4 --to value
gives 'block: the quotient of 60 digits is rounded once' 0 '0.250000000000000000000000000000000000000000000000000000000001\n6\n' '0.5\n6\n' block --format mxfp4 --to value
gives 'block: the scale is that of the exact number' 0 '0x1.000001000000001p0\n' '80 20 1\n' block --format mxint8:ceil --to both

# the scale of each block is 1, so `ulp round` rounds element i in the same way, with word i
awk 'BEGIN { for (i = 0; i < 150; i++) print i % 32 ? i * 1.37 - 60 : 300 }' >many
for mode in sra srb src; do
    "$ULP" round --format e4m3 --mode $mode --bits 7 --seed 5 --stream 9 --to value many >want
    "$ULP" block --format mxfp8 --mode $mode --bits 7 --seed 5 --stream 9 --to value many >out 2>err
    [ -s out ] && cmp out want
    verdict $? "block: $mode, the word of element i is that of line i"
done

# tensor scales: 1344 / (6 448) = 0.5
awk 'BEGIN { for (i = 0; i < 16; i++) print 3; print -1344; print 112 }' >tensor
gives 'block: nvfp4 with the tensor scale of the whole input' 0 '' "$(awk 'BEGIN { for (i = 0; i < 16; i++) printf "38 7 3\\n" }')7e f -1344\n7e 1 112\n" block --format nvfp4 --tensor-scale auto --to both tensor
says 'block: and says which' '^ulp block: tensor scale 0.5$' err
mv out want
exits 'block: the same tensor scale, given' 0 block --format nvfp4 --tensor-scale 0x1p-1 --to both tensor
cmp out want && [ ! -s err ]
verdict $? 'block: gives the same'
gives 'block: no numbers, a tensor scale of 1' 0 '' '' block --format nvfp4 --tensor-scale auto
says 'block: and says so' 'tensor scale 1$' err
gives 'block: without one 3000 clips' 0 '3000\n' '7e 7 2688\n' block --format nvfp4 --to both

# round trips
prints 'block --list' '^nvfp4  *e2m1  *e4m3  *16  *even  *NVIDIA' block --list
says 'block --list: aliases' '^mxfp8-e4m3  *mxfp8  *e4m3  *e8m0  *32  *floor  *OCP' out
sed 1d out | cut -d ' ' -f 1 >names
for name in $(cat names); do
    "$ULP" block --format $name --to both many >both 2>err
    "$ULP" block --format $name many 2>err | "$ULP" block --format $name --decode >out 2>err
    [ "$(grep -c . out)" -eq 150 ] && cut -d ' ' -f 3 both | cmp - out
    verdict $? "block: $name and back"
done
"$ULP" block --format nvfp4 --tensor-scale auto many >codes 2>err
"$ULP" block --format nvfp4 --decode --tensor-scale "$(sed 's/.* //' err)" codes >out
"$ULP" block --format nvfp4 --tensor-scale auto --to value many >want 2>err
[ -s out ] && cmp out want
verdict $? 'block: nvfp4 with a tensor scale and back'
gives 'block --decode' 0 '0x7F,7\n7f f\n7f 8\n' '6\n-6\n-0\n' block --format mxfp4 --decode
gives 'block --decode: a NaN scale' 0 'ff 0\nff 7\n' 'nan\nnan\n' block --format mxfp4 --decode
gives 'block --decode: a scale of 0' 0 '00 7\n00 f\n' '0\n-0\n' block --format nvfp4 --decode
gives 'block --decode: beyond binary32' 0 'fe 7e\nfe fe\n' 'inf\n-inf\n' block --format mxfp8 --decode
gives 'block --decode: another scale in a block' 2 '# a\n7f 7\n7e 7\n' '6\n' block --format mxfp4 --decode
says 'block --decode: the line is named' 'stdin:3: .*7e.*7f.*32 lines' err
for line in 7f '7f 7 6' , '7f 10' '17f 7' '7f x' '-1 7' 7; do
    gives "block --decode: '$line' is refused" 2 "$line\n" '' block --format mxfp4 --decode
done

# sizes, rules, transforms
gives 'block: another size' 0 '1\n0.5\n8\n' '1\n0.5\n8\n' block --format mxint8:2 --to value
gives 'block: a size and a rule' 0 '6.4\n1\n6.4\n' '39 7 6.75\n39 2 1.125\n39 7 6.75\n' block --format nvfp4:2:noclip --to both
gives 'block: amax / 6' 0 '10\n20\n30\n40\n' '4d 3 9.75\n4d 5 19.5\n4d 6 26\n4d 7 39\n' block --format nvfp4 --to both
gives 'block: amax / 4 errs less' 0 '10\n20\n30\n40\n' '52 2 10\n52 4 20\n52 5 30\n52 6 40\n' block --format nvfp4:mse46 --to both
gives 'block: the best scale' 0 '1\n2\n4\n' '40 1 1\n40 2 2\n40 4 4\n' block --format nvfp4:best --to both
gives 'block: 17/16 of 6 reaches the next scale' 0 '6\n' '38 7 6\n' block --format nvfp4:up17 --to both
gives 'block: up17 does not clip' 0 '6.3\n' '39 7 6.75\n' block --format nvfp4:up17 --to both
gives 'block: a tensor scale of four over six' 0 '3072\n' '78 7 3072\n' block --format nvfp4:mse46 --tensor-scale auto --to both
says 'block: it is amax / (6 * 256)' 'tensor scale 2$' err
gives 'block: a spike becomes four equal numbers' 0 '8\n0\n0\n0\n' '4\n4\n4\n4\n' block --format mxfp4 --hadamard 4 --to value
gives 'block: signs of a stream' 0 '0\n8\n' "$(printf '0\n8\n' | "$ULP" block --format mxfp8 --hadamard 2:5 --to value | tr '\n' ' ' | sed 's/ /\\n/g')" block --format mxfp8 --hadamard 2:5 --to value
refuses 'block: a group of 3' 'a power of two from 2 to 256' block --format mxfp4 --hadamard 3
refuses 'block: signs of 32' 'has signs for G = 16 alone' block --format mxfp4 --hadamard 32:te
refuses 'block: other signs' 'none, te, or the number of a stream' block --format mxfp4 --hadamard 16:x
refuses 'block: tiles of lines' 'goes with --from npy' block --format mxfp4 --tiles
refuses 'block: an inverse of lines' 'decoded one by one' block --format mxfp4 --decode --hadamard 16
gives 'block: no whole group' 2 '1\n2\n3\n' '' block --format mxfp4 --hadamard 4
says 'block: its length is named' 'rows of 3 numbers, which is no multiple of 4' err

# bad input
gives 'block: a bad line leaves its block out' 2 '1\n2\nx\n' '' block --format mxfp4
says 'block: the line is named' 'stdin:3: .*no number' err
{ cat ragged; echo 1 2; } >bad
gives 'block: the blocks before it are printed' 2 '' "$(awk 'BEGIN { for (i = 0; i < 32; i++) printf "1\\n" }')" block --format mxfp4 --to value bad
says 'block: file and line are named' 'bad:35: ' err
gives 'block: but not under a tensor scale of all' 2 '' '' block --format nvfp4 --tensor-scale auto bad
gives 'block: a missing file' 2 '' '' block --format mxfp4 missing
gives 'block: a zero byte' 2 '1\n2\0003\n' '' block --format mxfp4
refuses 'block without a format' '--list names all' block
for name in mxfp5 e4m3 '' mxfp4: mxfp4:up; do refuses "block: --format '$name'" 'known: .*mxfp8-e4m3 mxfp8 .*nvfp4' block --format "$name"; done
says 'block: the rules are named' ':floor :ceil :even :noclip' err
holds 'block: no two blanks follow each other' ! grep -q '  ' err
refuses 'block: an unknown mode' 'known: rne' block --format mxfp4 --mode up
refuses 'block: an unknown policy' 'saturate' block --format mxfp4 --overflow saturate
refuses 'block: wrap on floating point' 'wraps' block --format mxfp4 --overflow wrap
refuses 'block: an unknown --to' 'known: code value both' block --format mxfp4 --to hex
refuses 'block: --bits with ru' 'not of ru' block --format mxfp4 --mode ru --bits 8
refuses 'block: no random bits' 'from 1 to 32' block --format mxfp4 --bits 0
for x in 0 -1 inf nan 1e39 1e-60 x; do refuses "block: --tensor-scale '$x'" 'positive and finite' block --format nvfp4 --tensor-scale "$x"; done
refuses "block: --tensor-scale ''" 'the value is empty' block --format nvfp4 --tensor-scale ''
refuses 'block: auto for MX' 'nvfp4' block --format mxfp4 --tensor-scale auto
refuses 'block: auto for --decode' 'codes do not hold the number' block --format nvfp4 --tensor-scale auto --decode
refuses 'block: --decode and --mode' 'prints values' block --format mxfp4 --decode --mode rz
refuses 'block: --list and more' 'stands alone' block --list --format mxfp4
prints 'block --help' 'noclip: 2^ceil(log2 (amax / max))' block --help
tr '\n' ' ' <out >joined
says 'block --help: exact numbers' 'whose quotient by the scale is rounded once' joined

exit $failed
