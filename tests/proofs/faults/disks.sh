#!/bin/sh
# disks.sh - a full disk, a limit on the size of files, a folder that cannot be written, and paths that are no files.

. tests/programs/support.sh

small="--quick --formats fp16 --modes rne,sr --threads 1 --quiet"
large="--quick --formats fp16,bf16,e4m3 --modes all --threads 1 --quiet"
fails() { # fails TEXT WHY COMMAND...: exit status 1 or 2, and a sentence with WHY
    text=$1 why=$2
    shift 2
    "$@" >out.txt 2>err.txt
    got=$?
    { [ $got -eq 1 ] || [ $got -eq 2 ]; } && grep -q -- "$why" err.txt && [ -z "$(find . -type f -name '*.tmp')" ] || {
        echo "# exit $got: $*"; sed 's/^/#   /' err.txt; false; }
    verdict $? "$text"
}
LC_ALL=C seq 1 40000 >numbers.txt
"$BIN/stagnation" $large --out whole.csv && "$BIN/ulp" round --format fp32 --to npy --out whole.npy numbers.txt || exit 1

# ---- /dev/full ----

for command in "stagnation $small --out /dev/full" "stagnation $small --out -" "ulp round --format fp16 numbers.txt" \
    "ulp round --format fp32 --from npy --to npy --out /dev/full whole.npy" "ulp probe --datapath h100-fp16" "ulp formats" \
    "ulp verify --format e4m3 --mode rne --sample 100" "ulp --help" "stagnation --help" "ulp help modes"; do
    set -- $command
    program=$BIN/$1
    shift
    "$program" "$@" >/dev/full 2>err.txt
    [ $? -eq 1 ] && grep -q 'No space left on device' err.txt || { sed 's/^/# /' err.txt; false; }
    verdict $? "/dev/full: $command"
done

# ---- a disk of 64 KiB ----

mkdir disk
if [ "$(id -u)" -eq 0 ] && mount -t tmpfs -o size=64k none disk 2>/dev/null; then
    trap 'umount "$work/disk"; rm -rf "$work"' EXIT
    echo old >disk/o.csv && echo old >disk/o.npy
    fails "full disk: an experiment" 'No space left' "$BIN/stagnation" $large --out disk/o.csv
    fails "full disk: numbers" 'No space left' "$BIN/ulp" round --format fp32 --to npy --out disk/o.npy numbers.txt
    fails "full disk: golden vectors" 'No space left' "$BIN/ulp" vectors --format bf16 --out disk/v
    [ "$(cat disk/o.csv disk/o.npy)" = "old
old" ]
    verdict $? "full disk: old files stay"
    mount -o remount,size=8m disk && "$BIN/stagnation" $large --out disk/o.csv --resume 2>err.txt
    same whole.csv disk/o.csv "room again: --resume gives the bytes of an undisturbed run"
    [ ! -e disk/o.csv.part ]
    verdict $? "room again: nothing else stays"
    # ---- a folder that cannot be written ----
    mount -o remount,ro disk
    fails "read-only disk: an experiment" 'Read-only file system' "$BIN/stagnation" $small --out disk/o.csv
    fails "read-only disk: numbers" 'Read-only file system' "$BIN/ulp" round --format fp32 --to npy --out disk/o.npy numbers.txt
    fails "read-only disk: golden vectors" 'Read-only file system' "$BIN/ulp" vectors --format e2m1 --out disk/w
    fails "read-only disk: a journal" 'Read-only file system' "$BIN/ulp" verify --format e4m3 --mode rne --sample 100 --resume disk/j
    fails "read-only disk: a student's sheet" 'Read-only file system' "$BIN/ulp" course sheet --id anna --out disk L1
    fails "read-only disk: no folder results" 'Read-only file system' sh -c "cd disk && exec '$BIN/stagnation' $small"
    same whole.csv disk/o.csv "read-only disk: old files stay"
else
    skip "a full disk and a read-only disk" "mounting takes root"
    if [ "$(id -u)" -ne 0 ]; then
        mkdir -m 555 locked
        fails "a locked folder: an experiment" 'Permission denied' "$BIN/stagnation" $small --out locked/o.csv
        fails "a locked folder: numbers" 'Permission denied' "$BIN/ulp" round --format fp32 --to npy --out locked/o.npy numbers.txt
    fi
fi

# ---- ulimit -f: a write beyond it is an error, and not the signal SIGXFSZ ----

echo old >l.csv
echo old >l.npy
(ulimit -f 64 && fails "limit of 32 KiB: an experiment" 'File too large' "$BIN/stagnation" $large --out l.csv) || failed=1
(ulimit -f 64 && fails "limit of 32 KiB: numbers" 'File too large' "$BIN/ulp" round --format fp32 --to npy --out l.npy numbers.txt)
[ "$(cat l.csv l.npy)" = "old
old" ]
verdict $? "limit of 32 KiB: old files stay"
"$BIN/stagnation" $large --out l.csv --resume 2>err.txt
same whole.csv l.csv "without the limit --resume gives the bytes of an undisturbed run"

# ---- paths ----

fails "a folder that does not exist" 'No such file or directory' "$BIN/stagnation" $small --out no/o.csv
fails "numbers into a folder that does not exist" 'No such file or directory' "$BIN/ulp" round --format fp32 --out no/o numbers.txt
mkdir folder
fails "the output is a folder" 'Is a directory' "$BIN/stagnation" $small --out folder
fails "numbers into a folder" 'Is a directory' "$BIN/ulp" round --format fp32 --out folder numbers.txt
mkdir t.csv.tmp t.csv.part.tmp
fails "the name with .tmp is a folder" 't.csv.part.tmp: Is a directory' "$BIN/stagnation" $small --out t.csv
rmdir t.csv.tmp t.csv.part.tmp
"$BIN/stagnation" $small --out s.csv
echo old >target.csv
ln -s target.csv link.csv
"$BIN/stagnation" $small --out link.csv && cmp -s s.csv target.csv && [ -h link.csv ]
verdict $? "a symbolic link: the file behind it is replaced, and the link stays"
ln -s nowhere.csv dangling.csv
"$BIN/stagnation" $small --out dangling.csv && cmp -s s.csv nowhere.csv && [ -h dangling.csv ]
verdict $? "a symbolic link to nothing: the file behind it is made"
ln -s b.csv a.csv && ln -s a.csv b.csv
fails "a circle of links" 'symbolic links' "$BIN/stagnation" $small --out a.csv
exit $failed
