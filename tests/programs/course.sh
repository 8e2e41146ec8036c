#!/bin/sh
# course.sh - ulp course: sheets differ, the key is right, every bad answer gets a sentence, JSON, a class, the archives.
#
# The file is long because the sheets and answers of its first part are those that the later parts mark, report and archive.
root=$(pwd)
. tests/programs/support.sh
ULP=$BIN/ulp

# ---- sheets and keys ----

exits 0 'a sheet' "$ULP" course sheet --id anna L1
cp out.txt anna.csv
"$ULP" course sheet --id anna L1 | cmp -s - anna.csv
verdict $? 'the same student gets the same sheet'
"$ULP" course sheet --id bob L1 | sed 's/bob/anna/' | cmp -s - anna.csv
[ $? -eq 1 ]
verdict $? 'another student gets another sheet'
"$ULP" course sheet --id anna --word autumn L1 | cmp -s - anna.csv
[ $? -eq 1 ]
verdict $? 'another word of the course gives another sheet'
[ "$(grep -c '^L1\.[0-9]*,$' anna.csv)" -ge 6 ] && ! grep -q '^L1\.[0-9]*,.' anna.csv
verdict $? 'the answers of a sheet are empty'
holds 'a sheet fits 80 columns' [ "$(awk '{ if (length($0) > n) n = length($0) } END { print n }' anna.csv)" -le 80 ]
for lab in L0 L1 L2 L3 L4 L5 L6; do
    "$ULP" course key --id zoe $lab >key.csv
    exits 0 "the key of $lab is right" "$ULP" course check key.csv
done
"$ULP" course key --id zoe >key.csv
exits 0 'the key of all labs is right' "$ULP" course check key.csv
sed 's/$/\r/; s/^#/"#/' key.csv | sed 's/^L\([0-9.]*\),\([^\r]*\)/L\1,"\2",,/' >table.csv
exits 0 'a file that a spreadsheet has saved is read' "$ULP" course check table.csv
"$ULP" course sheet --id anna --word autumn L1 | tr -d '\n' >line.txt
says 'Your teacher checks the answers\.' line.txt 'a sheet with a word says who checks it'
exits 0 'the key with the word' "$ULP" course key --id zoe --word autumn
cp out.txt autumn.csv
exits 0 'is right with the word' "$ULP" course check --word autumn autumn.csv
complains 2 'and is refused without the word' 'another word of' "$ULP" course check autumn.csv
mkdir sheets
exits 0 'a file for each student' "$ULP" course sheet --id anna,bob,o.k@uni-x.de --out sheets
holds 'has the names of the students' [ "$(ls sheets | tr '\n' ' ')" = 'anna.csv bob.csv o.k@uni-x.de.csv ' ]
exits 2 'a student twice' "$ULP" course sheet --id eva,bob,eva --out sheets
holds 'nothing is written then' [ ! -e sheets/eva.csv ]
complains 2 'a file that is there is kept' 'may hold answers' "$ULP" course sheet --id bob --out sheets

# ---- answers ----

exits 1 'an empty sheet is not right' "$ULP" course check anna.csv
[ "$(grep -c 'open       There is no answer yet\.' out.txt)" -ge 6 ] && [ ! -s err.txt ]
verdict $? 'and says which answers are missing'

# answer TEXT VERDICT PATTERN STATUS: the answer TEXT to L1.1, 2^-3 for anna, gets VERDICT and a sentence with PATTERN
"$ULP" course key --id anna L1 >right.csv
holds 'the key of L1.1 of anna is 0.125' [ "$(grep '^L1\.1,' right.csv)" = L1.1,0.125 ]
answer() {
    awk -v row="L1.1,$1" '/^L1\.1,/ { print row; next } { print }' right.csv >a.csv
    "$ULP" course check a.csv >out.txt 2>err.txt
    got=$?
    tr '\n' ' ' <out.txt | tr -s ' ' >line.txt
    grep -q "L1\.1 $2" line.txt && grep -q -- "$3" line.txt && [ $got -eq "$4" ] && { [ "$4" -lt 2 ] || grep -q "^ulp course: a\.csv:[0-9]*: L1\.1: ." err.txt; }
    verdict $? "L1.1,$1 is $2"
    if [ "$2" = wrong ]; then
        holds 'and the hint does not have the answer' ! grep -qE '0\.125|1/8|2\^-3' line.txt
    fi
}
for text in 0.125 1.25e-1 1/8 2^-3 '2^(-3)' '2**-3' 1*2^-3 '1 * 2^-3' '1x2^-3' 0x1p-3 0X.2P0 .125 +0.125 00.12500 ' 0.125 ' '2 / 16' 1/16+2^-4 '1 - 7/8' 2^−3 2^–3 1×2^-3 1·2^-3 \
    1/2*2^-2 13/8*2^-3-5/64; do
    answer "$text" right . 0
done
answer 0.0625 wrong 'half of the spacing' 1
answer 2^-10 wrong 'spacing at 1' 1
answer -0.125 wrong 'sign' 1
answer 8 wrong 'spacing is this power times' 1
answer 0.3 wrong 'no power of two' 1
answer -3 wrong 'This is the exponent' 1
answer 0.12 almost 'write all digits' 1
answer 0.13 almost 'write all digits' 1
answer 0.125000000000000000001 almost 'write all digits' 1
answer 0.1 wrong 'no power of two' 1
answer inf wrong . 1
answer nan wrong . 1
answer '0,0625x' unreadable 'comma: write a point' 2
answer '"0,5"' unreadable 'comma: write a point, as in 0\.5' 2
answer '"64,512"' unreadable 'separates thousands, leave the comma out' 2
answer '"1,024,000"' unreadable 'leave the commas out' 2
answer 2-4 unreadable 'has no ^: write a power of two as in' 2
answer '3*2-19' unreadable 'has no ^' 2
answer '(2-2^-5)*2^15' unreadable 'no brackets' 2
answer '2^-4 = 0.0625' unreadable 'write one number, without =' 2
answer 0x3c00 unreadable 'looks like a code' 2
answer '1 000' unreadable 'blank between digits' 2
answer 10^-2 unreadable 'a power has the base 2' 2
answer 2^9999 unreadable 'a power has the base 2' 2
answer 2^x unreadable 'a power has the base 2' 2
answer 25% unreadable 'percent' 2
answer 1/0 unreadable 'is no number' 2
answer 1/2/3 unreadable 'is no number' 2
answer 1e999 unreadable 'larger than every number' 2
answer one unreadable 'is no number' 2
answer 0.5. unreadable 'is no number' 2
answer 1+ unreadable 'is no number' 2
answer 1+-2 unreadable 'is no number' 2
answer --5 unreadable 'is no number' 2

# the key of L0.6 of anna is 4096: no digit of a whole number may be left out
"$ULP" course key --id anna L0 | sed 's/^L0\.6,4096$/L0.6,4100/' >a.csv
prints 1 'a whole number with fewer digits' '^  L0\.6  *wrong' "$ULP" course check a.csv

# a file with answers to one lab: one line for each of the others, and one lab alone
{ "$ULP" course key --id zoe L0; "$ULP" course sheet --id zoe | sed '1,/^L0\.8/d' | sed 's/^L1\.3,/&x/'; } >a.csv
prints 2 'a file with one lab' '^zoe, lab L2: 7 open$' "$ULP" course check a.csv
holds 'and a line for each open question of a lab with answers' [ "$(grep -c 'There is no answer yet' out.txt)" -eq 6 ]
prints 0 'one lab of a file' '^8 of 8 right$' "$ULP" course check a.csv l0
exits 1 'an open lab of a file' "$ULP" course check a.csv L2
[ "$(grep -c 'There is no answer yet' out.txt)" -eq 7 ] && [ ! -s err.txt ]
verdict $? 'lists its questions'
complains 2 'a lab that the file has not' 'right\.csv: there are no answers to L2 in the file' "$ULP" course check right.csv L2

# verdicts of other kinds: a code, a choice, the sign of a zero
one() { # one ID NAME ANSWER VERDICT PATTERN: the answer to one question
    "$ULP" course key --id "$1" "${2%%.*}" | awk -v q="$2," -v a="$3" 'index($0, q) == 1 { print q a; next } { print }' >a.csv
    "$ULP" course check a.csv 2>/dev/null | tr '\n' ' ' | tr -s ' ' >line.txt
    grep -q "$2 $4" line.txt && grep -q -- "$5" line.txt
    verdict $? "$2,$3 is $4"
}
code=$("$ULP" course key --id anna L0 | sed -n 's/^L0\.1,//p')
one anna L0.1 "0x$code" right .
one anna L0.1 "$(printf %04x $((0x$code + 1)))" almost .
one anna L0.1 "$(printf %04x $((0x$code ^ 0x8000)))" wrong 'sign bit'
one anna L0.1 1.5 unreadable 'is no code of binary16: a code is 4 hex digits'
one anna L0.1 12345 unreadable 'is no code'
for text in +inf ∞ infinity 65504.0 2^16-2^5; do
    one anna L0.8 $text '\(right\|wrong\)' .
done
one anna L1.2 "$(sed -n 's/^# *L1\.2 *Round \([0-9.]*\) .*/\1/p' right.csv)" wrong 'number of the question'
"$ULP" course sheet --id anna L3 | tr '\n' ' ' | sed 's/.*gradient \([-0-9.e]*\) become.*/\1/' >copy.txt
one anna L3.1 "$(cat copy.txt)" wrong 'number of the question'
one anna L1.6 "$(($(sed -n 's/^L1\.6,//p' right.csv) / 8))" wrong 'the count still goes on'
one anna L3.2 2^-200 wrong 'a larger power of two does, too'
one anna L0.2 '-13/8*2^6' right .
one anna L0.2 -104.5 almost 'last bits of the code'
one anna L0.4 3.8e-6 almost 'write all digits'
one anna L1.7 27 wrong 'the number of a term'
one anna L3.3 3 almost 'Look at the tie' # 2^-25 is in the list
one carla L3.3 0 almost 'Compare each with 2^-25'
one carla L3.3 2 almost 'Compare each with 2^-25'
one carla L3.1 -22 wrong 'This is the exponent of'
one anna L4.1 8 wrong 'This is the exponent'
one anna L4.3 225*2^-34 almost 'rounding to a multiple of 2^-24'
one anna L5.6 4.0000019073486328 almost 'write all digits'
for text in 'The Master Weights' weights 'loss scale' 'accumulator in binary32'; do
    one anna L4.7 "$text" '\(right\|wrong\)' .
done
one anna L4.7 'master scale' unreadable 'is not one of the words'
one anna L4.7 'not master' unreadable 'is not one of the words'
one anna L3.7 'a normal number' '\(right\|wrong\)' .
one anna L6.8 '7.125 bits' right .
one anna L6.8 '7.125 bytes' unreadable 'is no number'
one anna L5.1 2^-20 almost 'There are two small terms'
one anna L5.1 3*2^-21 wrong 'Cut each small term first'
one anna L5.1 3*2^-20 wrong 'the exact sum'
one carla L5.2 2^-18 almost 'There are two small terms'
one carla L5.2 3*2^-19 wrong 'Cut each small term first'
one carla L5.2 -17 wrong 'This is the exponent of'
one carla L5.7 128.45 almost 'write all digits'
one carla L5.7 128.5 wrong .
one carla L6.2 7.875 almost 'Which is the end of the range'
one anna L6.3 5.125 almost 'is 16, not 15\.9375'
one carla L6.3 -2.4375 almost 'is 16, not 15\.9375'
one carla L6.3 -2.5625 almost 'Nothing is rounded here'
one carla L6.4 480 wrong 'beyond the range'
one carla L6.4 512 wrong 'beyond the range'
one carla L6.4 inf wrong 'has no infinity'
one carla L6.4 nan wrong 'the spacing of e4m3'
one anna L5.7 32-2^-8 wrong 'toward zero, also below zero'
one anna L6.2 7.9375 wrong 'the other end of the range'
one anna L6.2 -7.9375 almost 'ends of the range differ in size'
one anna L1.5 0.07 wrong 'no power of two'
one anna L4.2 55154 wrong 'no power of two'
one anna L4.7 'The accumulator' '\(right\|wrong\)' .
prints 0 'ulp show reads what a sheet reads' '0\.1875' "$ULP" show --format fp16 3*2^-4 1/3
printf '\377\376i\000d\000' >a.csv
refused_utf16=$("$ULP" course check a.csv 2>&1)
case $refused_utf16 in *UTF-8*) ;; *) false ;; esac
verdict $? 'a file in UTF-16 gets a sentence'
one anna L0.8 maybe unreadable 'is not one of the words of the question: 65504 inf'
for id in s1 s2 s3 s4 s5 s6 s7 s8 s9; do # a student whose gradient becomes zero
    case $("$ULP" course key --id $id L3 | sed -n 's/^L3\.1,//p') in
    0) one $id L3.1 -0 almost 'sign of the zero'; break ;;
    -0) one $id L3.1 0 almost 'sign of the zero'; break ;;
    esac
done
says almost line.txt 'one of nine gradients becomes zero'

# ---- files ----

refused() { # refused TEXT PATTERN: check of a.csv exits 2 with the sentence
    complains 2 "$1" "^ulp course: .*a\.csv.*$2" "$ULP" course check a.csv
}
grep -v '^L1\.3' right.csv >a.csv
refused 'a missing question' 'the row of L1\.3 is missing'
{ cat right.csv; echo L1.99,5; } >a.csv
refused 'an unknown question' "there is no question 'L1\.99'"
{ cat right.csv; echo L9.1,5; } >a.csv
refused 'an unknown lab' "there is no question 'L9\.1'"
{ cat right.csv; echo L1.3,5; } >a.csv
refused 'two answers' 'a second answer to L1\.3'
sed 's/^id,anna/id,bob/' right.csv >a.csv
refused "another student's sheet" "is not the sheet of 'bob'"
grep -v '^L' out.txt | grep -qE 'right|wrong'
[ $? -eq 1 ]
verdict $? 'which gets no marks'
"$ULP" course key --id anna --word autumn | sed '1,/^L1\.1,/ s/^L1\.1,.*/L1.1,0;5/; s/^L0\.1,.*/L0.1,4.5/' >a.csv
refused 'a sheet made with a word' 'L0 is not the sheet of .anna.: the answers belong to another student, to another word'
says '^ulp course: a\.csv:[0-9]*: the sheet [0-9a-f]* of L6 is not the sheet of .anna.$' err.txt 'the reason is there once'
says "^ulp course: a\.csv:[0-9]*: L0\.1: '4\.5' is no code" err.txt 'an answer that cannot be read has its sentence, too'
[ ! -s out.txt ] && [ "$(wc -l <err.txt)" -eq 9 ]
verdict $? 'and there are no marks'
grep -v '^id' right.csv >a.csv
refused 'a file without an id' 'there is no row `id,...`'
grep -v '^sheet' right.csv >a.csv
refused 'a file without the row of the sheet' 'the row `sheet L1,...` is missing'
sed 's/,/;/' right.csv >a.csv
refused 'semicolons' 'commas between the columns, not semicolons'
holds 'which is there once' [ "$(wc -l <err.txt)" -eq 1 ]
sed 's/^\(L1\.[12]\),/\1;/' right.csv >a.csv
refused 'semicolons after the names of questions' 'a semicolon stands after L1\.2: write a comma in its place'
holds 'and nothing else' [ "$(wc -l <err.txt)" -eq 2 ]
: >a.csv
refused 'an empty file' 'this is no file of answers'
echo 'id,=1+1' >a.csv
refused 'a bad id' 'an id is 1 to 64 letters'
printf 'id,anna\n\0' >a.csv
refused 'a binary file' 'zero byte'
echo 'id,anna' >a.csv
refused 'a file of no lab' 'there are no answers in the file'
complains 2 'a file of another student' "the file of 'anna', not of 'bob'" "$ULP" course check --id bob right.csv
for words in '' 'nonsense' 'sheet' 'sheet --id a_b,,c' 'sheet --id -x' 'sheet --id a L7' 'sheet --id a L1 L2' 'check' 'check nofile.csv' 'check right.csv L9' 'check right.csv L1 L2' \
    'check .' 'grade' 'grade nofolder' 'grade right.csv' 'grade . L9' 'grade . L1 L2' 'grade --id a,, .' 'sheet --json --id a' 'key' 'check --almost 2 right.csv' 'sheet --id a --out nofolder'; do
    exits 2 "refused: course $words" "$ULP" course $words
    [ -s err.txt ] && [ ! -s out.txt ]
    verdict $? 'with a sentence and nothing on stdout'
done

# ---- JSON and a class ----

awk '/^L1\.1,/ { print "L1.1,\"\\\303(\""; next } /^L1\.2,/ { print "L1.2,"; next } { print }' right.csv >a.csv
exits 2 'JSON of a bad answer' "$ULP" course check --json --almost 0.25 a.csv
if command -v python3 >/dev/null; then
    python3 - <<'END'
import json
r = json.load(open("out.txt", encoding="utf-8"))
tests = r["tests"]
assert {"score", "output", "output_format", "extra_data", "tests"} == set(r), r.keys()
assert r["output_format"] == "text"  # without it, Gradescope takes the output as HTML
assert all({"name", "score", "max_score", "status", "output"} == set(t) for t in tests)
assert r["score"] == sum(t["score"] for t in tests) == len(tests) - 2 and r["extra_data"] == {"student_id": "anna", "max_score": len(tests)}
assert tests[0]["output"].startswith("unreadable: ") and tests[1]["output"].startswith("open: ") and tests[2]["status"] == "passed"
END
    verdict $? 'is in the form of results.json'
else
    skip 'is in the form of results.json' 'no python3'
fi
prints 2 'JSON of no file' 'cannot be read' "$ULP" course check --json nofile.csv
# Gradescope's script of course/teacher.md, with two files of a student, of which the first has no line break at its end
mkdir -p autograder/submission autograder/results
sed -n '/^#!\/bin\/sh/,/^```/p' "$root/course/teacher.md" | sed "/^\`\`\`/d; s|/autograder|$PWD/autograder|" >run_autograder
for lab in L0 L1; do
    printf '%s' "$("$ULP" course key --id anna@uni.de --word autumn26 $lab | sed 's/^L1\.1,.*/L1.1,<b>/')" >autograder/submission/$lab.csv
done
for id in anna@uni.de bob@uni.de; do
    printf '{"id": 1, "users": [{"email": "%s", "id": 2}]}' $id >autograder/submission_metadata.json
    PATH=$BIN:$PATH exits 0 "run_autograder of course/teacher.md runs ($id)" sh run_autograder
    cp autograder/results/results.json $id.json
done
says '"output": "6 of 7 right, 1 unreadable' anna@uni.de.json 'and marks the lab'
says "the file of 'anna@uni.de', not of 'bob@uni.de'" bob@uni.de.json 'and refuses the file of another student'
rm autograder/submission/*
PATH=$BIN:$PATH exits 0 'and runs without a file' sh run_autograder
says 'this is no file of answers' autograder/results/results.json 'and says so'
if command -v python3 >/dev/null; then # the cell for nbgrader of course/teacher.md
    "$ULP" course key --id anna --word autumn26 | sed 's/^L1\.1,.*/L1.1,0,5/; s/^L1\.6,.*/&+1/' >autograder/anna.csv
    (cd autograder && PATH=$BIN:$PATH python3 - "$root/course/teacher.md") >out.txt <<'END'
import ast, re, sys
cell = ast.parse(re.search(r"```python\n(.*?)```", open(sys.argv[1], encoding="utf-8").read(), re.S)[1])
last, space = cell.body.pop(), {}
exec(compile(cell, "cell", "exec"), space)
print("score", eval(compile(ast.Expression(last.value), "cell", "eval"), space))
END
    says '^score 5\.5$' out.txt "the cell of course/teacher.md ends with the points"
    says 'L1\.1: .0,5. has a comma' out.txt 'and prints the sentences'
else
    skip 'the cell of course/teacher.md ends with the points' 'no python3'
fi
mkdir -p class/late
cp right.csv class/anna.csv
"$ULP" course key --id bob L1 | sed 's/^L1\.1,.*/L1.1,x/' >class/bob.csv
cp right.csv class/late/copy.csv
"$ULP" course key --id eva L2 >class/eva-L4.csv
echo hello >class/other.csv
exits 2 'a class with files that are not in order' "$ULP" course grade class
says '^L1,anna,7,7,7,0,0,0,0,"class/anna.csv; class/late/copy.csv","",right,' out.txt 'has the marks of a good file, and of two files with the same marks once'
says '^L1,bob,6,7,6,0,0,0,1,"class/bob.csv","class/bob.csv:[0-9]*: L1\.1: .*is no number.*",unreadable,right' out.txt 'a sentence for an unreadable answer'
says '^,,,,,,,,,"class/other.csv","class/other.csv:1: ' out.txt 'no score and a sentence for another file'
says '^L2,eva,7,7,.*the name of the file says L4, and the file has no answers to L4' out.txt 'a sentence for a file of another lab'
[ "$(grep -c '^L1,anna,' out.txt)" -eq 1 ] && ! grep -q anna err.txt
verdict $? 'and one row for each student and lab'

mkdir -p submitted/anna/L1/deep/deeper
cp right.csv submitted/anna/L1/deep/deeper/anna-L1.csv
ln -s nowhere submitted/bob.csv
printf 'PK\003\004\024\0\0' >submitted/Eva.XLSX
exits 2 'a class with folders in folders, and a file that is gone' "$ULP" course grade submitted
says '^L1,anna,7,7,7,0,0,0,0,"submitted/anna/L1/deep/deeper/anna-L1.csv",""' out.txt 'the deep file counts'
says '^,,,,,,,,,"submitted/bob.csv","submitted/bob.csv: the file cannot be read"' out.txt 'and the other file has a sentence'
says '^,,,,,,,,,"submitted/Eva.XLSX","submitted/Eva.XLSX.*' out.txt 'and a spreadsheet, too'

# a student with several files: L0 and L1 in one file, and the file of L1 that `mend` changes
twins() { # twins FIRST SECOND MEND: class twins/ of the files FIRST (all of L0, nothing of L1) and SECOND (L1, through MEND)
    rm -rf twins
    mkdir twins
    { "$ULP" course key --id tom L0; "$ULP" course sheet --id tom L1; } >"twins/$1"
    "$ULP" course key --id tom L1 | sed "$3" >"twins/$2"
}
for names in 'a.csv b.csv' 'b.csv a.csv'; do
    twins ${names% *} ${names#* } ''
    prints 0 "a file without answers to a lab does not count ($names)" '^L0,tom,8,8,8,0,0,0,0,"twins/' "$ULP" course grade twins
    says '^L1,tom,7,7,7,0,0,0,0,"twins/a.csv; twins/b.csv",""' out.txt 'the file with answers counts'
    twins ${names% *} ${names#* } 's/^L1\.2,.*/L1.2,98765/'
    "$ULP" course key --id tom L1 >twins/c.csv
    exits 2 "files with different marks are refused ($names)" "$ULP" course grade twins
    says '^L1,tom,,,,,,,,"twins/a.csv; twins/b.csv; twins/c.csv","twins/.\.csv: the files of .tom. give different marks for L1, and none of them counts: keep one of twins/.\.csv, twins/c.csv",,,' out.txt 'without a score, and with the names of the files'
    [ "$(grep -c '^L1,tom,' out.txt)" -eq 1 ] && grep -q '^L0,tom,8,8' out.txt && [ "$(wc -l <err.txt)" -eq 1 ]
    verdict $? 'in one row, and the other lab counts'
done
twins a.csv b.csv 's/^sheet L1,.*/sheet L1,00000000/'
sed_file '/^# ---- lab L1/,$d' twins/a.csv
exits 2 'a sheet that is not the sheet of the student has no marks' "$ULP" course grade twins
says '^L1,tom,,,,,,,,"twins/b.csv","twins/b.csv:[0-9]*: the sheet 00000000 of L1 is not the sheet' out.txt 'and a row without a score'
"$ULP" course key --id tom L1 >twins/a-L1.csv
exits 2 'the file beside it counts' "$ULP" course grade twins
says '^L1,tom,7,7,7,0,0,0,0,"twins/a-L1.csv; twins/b.csv","twins/b.csv:[0-9]*: the sheet' out.txt 'with both names and the sentence'

# the file of all labs: only L0 has answers, and L1 has one that cannot be read
{ "$ULP" course key --id zoe L0; "$ULP" course sheet --id zoe | sed -n '/^sheet L1/,$p' | sed 's/^L1\.1,/L1.1,x/'; } >twins/a-L1.csv
exits 0 'one lab of a class' "$ULP" course grade twins L0
[ "$(cut -d, -f1,2,3 out.txt | tr '\n' ' ')" = 'assignment,student_id,score L0,tom,8 L0,zoe,8 ' ] && [ ! -s err.txt ]
verdict $? 'has the rows of this lab, and no sentence about another'
exits 2 'and another lab of it' "$ULP" course grade twins l1
[ "$(cut -d, -f1,2,3 out.txt | tr '\n' ' ')" = 'assignment,student_id,score L1,tom, L1,zoe,0 ' ] && [ "$(wc -l <err.txt)" -eq 2 ]
verdict $? 'has its rows in the order of the students, and its sentences'
prints 2 'and its questions' '^L1,L1\.1,1,0,0,0,0,1,0\.000,0,""$' "$ULP" course grade --questions twins L1

exits 2 'a list of students' "$ULP" course grade --id tom,eva,eva twins L0
[ "$(cut -d, -f1,2,3 out.txt | tr '\n' ' ')" = 'assignment,student_id,score L0,eva, L0,tom,8 L0,zoe,8 ' ]
verdict $? 'has a row for each student'
says '^L0,eva,,,,,,,,"",".eva. has no answers to L0",,' out.txt 'with a sentence about the missing answers'
says "^ulp course: 'eva' has no answers to L0$" err.txt 'which is on stderr, too'
says "the id 'zoe' is not in the list of --id" err.txt 'and a sentence about a student who is not in the list'
prints 2 'a student without a file' '^,eva,,,,,,,,"",".eva. has no file",,' "$ULP" course grade --id tom,zoe,eva twins

# the questions of a class: one right, one almost right, three wrong with two hints, one open, one unreadable
mkdir asked
n=0
for mend in '' 's/^L3\.5,.*/&+1/' 's/^L3\.7,.*/L3.7,/' 's/^L3\.7,.*/L3.7,half/' 's/^L3\.6,.*/L3.6,-1/' 's/^L3\.6,.*/L3.6,-2/' 's/^L3\.6,.*/L3.6,98765/'; do
    n=$((n + 1))
    "$ULP" course key --id s$n L3 | sed "$mend" >asked/s$n.csv
done
exits 2 'the questions of a class' "$ULP" course grade --questions --almost 0.25 asked
[ "$(wc -l <out.txt)" -eq 8 ] && says '^assignment,question,students,right,almost,wrong,open,unreadable,share,hinted,hint$' out.txt 'have a row each'
says '^L3,L3\.1,7,7,0,0,0,0,1\.000,0,""$' out.txt 'all right'
says '^L3,L3\.5,7,6,1,0,0,0,0\.893,1,".' out.txt 'one almost right, with its hint'
says '^L3,L3\.6,7,4,0,3,0,0,0\.571,2,"Compare the update with half of the spacing at the weight\."$' out.txt 'three wrong, with the hint that most of them got'
says '^L3,L3\.7,7,5,0,0,1,1,0\.714,0,""$' out.txt 'one open and one unreadable'
says 'asked/s4\.csv:[0-9]*: L3\.7: .half. is not one of the words' err.txt 'and a sentence for it'
exits 2 'no questions of a class without marks' "$ULP" course grade --questions --word x asked
[ "$(wc -l <out.txt)" -eq 1 ] && [ "$(wc -l <err.txt)" -eq 8 ]
verdict $? 'only sentences: seven about the sheets, and one about the answer that cannot be read'

# on a terminal a sentence is there once
if script -qec true /dev/null >/dev/null 2>&1; then
    on_terminal() { script -qec "'$ULP' course $1" /dev/null </dev/null | tr -d '\r' | tr '\n' ' ' | tr -s ' ' >out.txt; }
    on_terminal 'grade asked'
    [ "$(grep -o 'is not one of the words' out.txt | wc -l)" -eq 1 ] && grep -q 'ulp course: 1 row with a note' out.txt
    verdict $? 'on a terminal the CSV of a class has the sentence, and the message the number of rows'
    on_terminal 'grade --questions asked'
    says 'asked/s4\.csv:[0-9]*: L3\.7: .half' out.txt 'the CSV of the questions has none, and the messages have them'
    { sed 's/^L3\.7,.*/L3.7,half/' asked/s1.csv; echo L3.99,1; } >asked/s1-L3.csv
    on_terminal 'check asked/s1-L3.csv'
    [ "$(grep -o 'is not one of the words' out.txt | wc -l)" -eq 1 ] && grep -q "there is no question 'L3\.99'" out.txt
    verdict $? 'and the report has the sentences about answers, and the messages the others'
else
    skip 'on a terminal a sentence is there once' 'no script'
fi

# ---- the pages and the archives ----

PATH=$BIN:$PATH
for lab in L0 L1 L2 L3 L4 L5 L6; do "$ULP" course sheet --id anna --out . $lab; done
exits 0 'a file for a lab' "$ULP" course sheet --id bob --out sheets L3
holds 'has the name of the lab' [ -s sheets/bob-L3.csv ]
for page in "$root"/course/README.md "$root"/course/L?.md; do
    name=$(basename "$page" .md)
    # a program that trains lists its grid, which checks its options and takes no time
    sed -n '/^```sh/,/^```/p' "$page" | sed '/^```/d; /^PATH=/d; s/^\(gradient_underflow\|loss_scaling\|recipe\|quantized_inference\) .*--out [a-z.]*/& --list/; / --list/s/ | grep .*//
        s/^ulp course check.*/& || [ $? -eq 1 ]/; s/^ulp course sheet --id anna --out \. L0/rm -f anna-L0.csv; &/' >commands.sh
    [ -s commands.sh ] && sh -e commands.sh >out.txt 2>err.txt
    status=$?
    [ $status -eq 0 ] || sed 's/^/# /' err.txt
    verdict $status "the commands of course/$name.md run as written"
    [ "$(wc -l <"$page")" -le 62 ] && [ "$(awk '{ if (length($0) > n) n = length($0) } END { print n }' "$page")" -le 130 ]
    verdict $? "course/$name.md fits a page"
done
for lab in L0 L1 L2 L3 L4 L5 L6; do
    grep -q "figures/$lab.svg" "$root/course/$lab.md" && grep -q "^\*\*$lab\.\*\*" "$root/course/teacher.md"
    verdict $? "$lab has a figure, and a place in course/teacher.md"
done
exits 0 'the course is packed' env BIN="$BIN" OUT=pack IDS='anna
 bob ' WORD=autumn sh "$root/course/make.sh"
mkdir student teacher
for who in student teacher; do # where nothing reads zip files, the folder that was packed
    if [ ! -s pack/$who.zip ]; then tar -xzf pack/$who.tar.gz -C $who
    elif command -v unzip >/dev/null; then unzip -q pack/$who.zip -d $who
    elif command -v python3 >/dev/null; then python3 -m zipfile -e pack/$who.zip $who
    else cp -r pack/$who $who; fi
done
[ -s student/student/L6.md ] && [ -s student/student/README.md ] && [ -s student/student/sheets/bob.csv ]
verdict $? 'the archive for students has pages and sheets'
if command -v gnuplot >/dev/null; then
    [ "$(ls student/student/figures | wc -l)" -eq 7 ] && ! find student -name '*.svg' -size -2 | grep -q .
    verdict $? 'and seven figures'
else
    skip 'and seven figures' 'no gnuplot'
fi
for page in student/student/*.md; do # nothing of a page is lost in print
    sed 's/[^A-Za-z0-9]/ /g' "$page" | tr -s ' ' '\n' | grep -vxE 'sh|md|html|' | sort >words.txt
    sed 's/.*<\/style>//; s/<title>.*<\/title>//; s/<img src=\("[^"]*"\) alt=\("[^"]*"\)>/\1 \2/g; s/<a href=\("[^"]*"\)>/\1 /g; s/<ol start="\([0-9]*\)">/\1 /g; s/<[^>]*>/ /g; s/&[a-z]*;/ /g; s/[^A-Za-z0-9]/ /g' "${page%.md}.html" | tr -s ' ' '\n' | grep -vxE 'md|html|' | sort >printed.txt
    cmp -s words.txt printed.txt || diff words.txt printed.txt | head -5 | sed 's/^/# /'
    same words.txt printed.txt "$(basename "$page") has the same words in print"
done
! find student | grep -iE 'key|teacher' && ! grep -rE '^L[0-9]\.[0-9]+,.|KEY' student
verdict $? 'and no key'
exits 0 'the archive for teachers has the keys' "$ULP" course check --word autumn --id bob teacher/teacher/keys/bob.csv
holds 'and the page for teachers' [ -s teacher/teacher/teacher.md ]
exit $failed
