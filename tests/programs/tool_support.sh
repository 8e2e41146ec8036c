# tool_support.sh - functions for tests of the tool `ulp`, for the files tests/tool*.sh; read it with `.` in the tree's root.
#
# The functions of support.sh are there, too, but `exits` and `says` are those below: they run the tool.
tree=$PWD
. tests/programs/support.sh
ULP=$BIN/ulp
export LC_ALL=C

# gives TEXT STATUS INPUT OUTPUT ARGUMENT...: for INPUT the tool prints OUTPUT (both printf formats) and exits with STATUS
gives() {
    text=$1 status=$2 input=$3 output=$4
    shift 4
    printf -- "$input" | "$ULP" "$@" >out 2>err
    got=$?
    printf -- "$output" >want
    if [ $got -ne "$status" ] || ! cmp -s out want; then
        echo "# ulp $*: exit $got, want $status; output, then what it should be, then errors:"
        sed 's/^/#   /' out want err
        verdict 1 "$text"
    else
        verdict 0 "$text"
    fi
}

# exits TEXT STATUS ARGUMENT...: the tool exits with STATUS; its output is in `out` and `err`
exits() {
    text=$1 status=$2
    shift 2
    "$ULP" "$@" >out 2>err </dev/null
    got=$?
    [ $got -eq "$status" ] || { echo "# ulp $*: exit $got, want $status"; sed 's/^/#   /' err; }
    [ $got -eq "$status" ]
    verdict $? "$text"
}
says() { # says TEXT PATTERN FILE
    grep -q -- "$2" "$3" || sed 's/^/#   /' "$3"
    grep -q -- "$2" "$3"
    verdict $? "$1"
}
prints() { # prints TEXT PATTERN ARGUMENT...: exit 0, and PATTERN on stdout
    said_of=$1 said_pattern=$2
    shift 2
    exits "$said_of" 0 "$@"
    says "$said_of: says '$said_pattern'" "$said_pattern" out
}
lacks_cuda() { # lacks_cuda ARGUMENT...: with --backend cuda exit 3, nothing on stdout, a reason on stderr; skipped with a device
    text="$1 --backend cuda"
    "$ULP" "$@" --backend cuda >out 2>err </dev/null
    got=$?
    if [ $got -eq 0 ]; then skip "$text exits 3" 'there is a device'; return; fi
    [ $got -eq 3 ] && [ ! -s out ] && grep -q "^ulp $1: --backend cuda: ." err
    verdict $? "$text exits 3 and says why"
}
refuses() { # refuses TEXT PATTERN ARGUMENT...: exit 2, nothing on stdout, PATTERN on stderr
    text=$1 pattern=$2
    shift 2
    exits "$text" 2 "$@"
    if [ -s out ]; then verdict 1 "$text: nothing on stdout"; fi
    says "$text: says why" "$pattern" err
}
byte() { printf "\\$(printf %03o "$1")"; }
# header VERSION DICTIONARY: the header of a .npy file as numpy writes it, without its padding
header() {
    printf '\223NUMPY'
    byte $1 && byte 0 && byte $((${#2} % 256)) && byte $((${#2} / 256))
    [ $1 -eq 1 ] || { byte 0 && byte 0; }
    printf %s "$2"
}
# npy DESCR ORDER SHAPE BYTES: a .npy file, BYTES as a printf format
npy() { header 1 "{'descr': '$1', 'fortran_order': $2, 'shape': $3, }" && printf "$4"; }
