# support.sh - functions for tests of programs: a temporary working folder, and TAP lines. Read it with `.` in the tree's root.
#
# BIN is the folder of the programs (default build/bin). A test ends with `exit $failed`.

BIN=$(cd "${BIN:-build/bin}" && pwd) || exit 2
work=$(mktemp -d) || exit 2
child= # a process in the background, which must not outlive the test
trap 'test -n "$child" && kill -9 "$child" 2>/dev/null; rm -rf "$work"' EXIT
cd "$work" || exit 2
failed=0
export NO_COLOR=1
export OMPI_MCA_orte_tmpdir_base="$work" # an mpirun that ends removes the shared default, which another one is about to use
unset ULPLAB_ISA OMP_NUM_THREADS ULPLAB_DATA

# copy_make TREE TO: what make reads besides sources
copy_make() { (cd "$1" && tar cf - Makefile make */*.mk) | (cd "$2" && tar xf -); }

verdict() { # verdict STATUS TEXT
    if [ "$1" -eq 0 ]; then echo "ok - $2"; else echo "not ok - $2"; failed=1; fi
}
# sed_file SCRIPT FILE: the file, changed by sed; -i is not in every sed
sed_file() { sed "$1" "$2" >"$2.edited" && mv "$2.edited" "$2"; }
skip() { echo "ok - $1 # SKIP $2"; }
succeeds() { # succeeds TEXT COMMAND...: the command ends with 0, else the last lines of its output are shown; they are in $work/log
    text=$1
    shift
    "$@" >"$work/log" 2>&1
    status=$?
    [ $status -eq 0 ] || tail -20 "$work/log" | sed 's/^/# /'
    verdict $status "$text"
}
same() { cmp "$1" "$2"; verdict $? "$3"; }
says() { grep -q -- "$1" "$2"; verdict $? "$3"; }
exits() { # exits CODE TEXT COMMAND...
    want=$1 text=$2
    shift 2
    "$@" >out.txt 2>err.txt
    got=$?
    [ $got -eq "$want" ] || { echo "# exit $got, want $want: $*"; sed 's/^/# /' err.txt; }
    [ $got -eq "$want" ]
    verdict $? "$text"
}
# prints CODE TEXT PATTERN COMMAND..., complains CODE TEXT PATTERN COMMAND...: as exits, and PATTERN is on stdout, or on stderr
prints() { said out.txt "$@"; }
complains() { said err.txt "$@"; }
said() {
    said_in=$1 said_code=$2 said_of=$3 said_pattern=$4
    shift 4
    exits "$said_code" "$said_of" "$@"
    says "$said_pattern" "$said_in" "$said_of: says '$said_pattern'"
}
holds() { # holds TEXT [!] COMMAND...: the command, as [ -s FILE ], ends with 0, or after ! with another status
    holds_text=$1
    shift
    if [ "$1" = ! ]; then shift && ! "$@"; else "$@"; fi
    verdict $? "$holds_text"
}
