#!/bin/sh
# run.sh - make fuzz: hostile input for the targets that are named, JOBS at a time, for SECONDS_EACH seconds each.
#
# PROGRAM is libFuzzer's program, SEEDS the one that reads the committed inputs, and WORK the folder of what it finds: WORK/NAME is the corpus of a target, which the
# next run goes on from, and WORK/NAME.log is its log. A run that was interrupted goes on with the targets that are
# missing. SEED=N begins with the same inventions each time; without it each run has its own. An input that fails stays
# in WORK, its name begins with NAME-, and the target has failed.
set -u

# one TARGET: fuzz it, and leave its line in WORK/TARGET.line
one() {
    name=$1 log=$WORK/$1.log
    if [ -s "$WORK/$name.line" ]; then
        echo "$(cat "$WORK/$name.line") (before the interruption)"
        return
    fi
    committed=$TMPDIR/$name
    mkdir -p "$WORK/$name" "$committed" && "$SEEDS" --unpack "tests/proofs/fuzz/corpus/$name.txt" "$committed" || return
    FUZZ_TARGET=$name "$PROGRAM" -seed="${SEED:-0}" -max_total_time="$SECONDS_EACH" -timeout=20 -rss_limit_mb=3000 -malloc_limit_mb=1500 \
        -artifact_prefix="$WORK/$name-" -print_final_stats=1 "$WORK/$name" "$committed" > "$log" 2>&1
    status=$?
    # 72: libFuzzer was interrupted
    case $status in 72 | 130 | 143) return ;; esac
    awk -v name="$name" -v status=$status '
        / cov: / { for (i = 1; i < NF; i++) if ($i == "cov:") edges = $(i + 1) }
        /^Done / { runs = $2; seconds = $5 }
        /^fuzz: .* past the first check/ { passed = $5 }
        END {
            if (status || !runs) { printf "not ok - %s: exit %d\n", name, status; exit }
            printf "ok - %s: %d runs, %.0f a second, %.2f past the first check, %d edges\n", name, runs,
                runs / (seconds > 0 ? seconds : 1), passed / runs, edges
        }' "$log" > "$WORK/$name.line.tmp"
    mv "$WORK/$name.line.tmp" "$WORK/$name.line"
    cat "$WORK/$name.line"
    case $(cat "$WORK/$name.line") in not*)
        grep -aE '^[a-z]+: |ERROR: |SUMMARY: |runtime error|Test unit written' "$log" | tail -6 | sed 's/^/# /' ;;
    esac
}

if [ "${1:-}" = --one ]; then
    one "$2"
    exit 0
fi

SEED=${SEED:-0}
case $SECONDS_EACH in
'' | 0 | *[!0-9]*) echo "make fuzz: FUZZ_SECONDS=$SECONDS_EACH: a whole number of seconds, at least 1" >&2; exit 2 ;;
esac
JOBS=${JOBS:-$(getconf _NPROCESSORS_ONLN)}
WORK=$(mkdir -p "$WORK" && cd "$WORK" && pwd) || exit 1
PROGRAM=$(cd "$(dirname "$PROGRAM")" && pwd)/$(basename "$PROGRAM") || exit 1
export PROGRAM WORK SECONDS_EACH SEED
export ASAN_OPTIONS=allocator_may_return_null=1:detect_leaks=1 UBSAN_OPTIONS=print_stacktrace=1
# lines are kept only for the rest of the same run
this="$(cksum < "$PROGRAM") $SECONDS_EACH $*"
if [ "$(cat "$WORK/running" 2>/dev/null)" != "$this" ]; then
    rm -f "$WORK"/*.line
    echo "$this" > "$WORK/running"
fi
# a target that is stopped leaves its temporary folder in TMPDIR
TMPDIR=$(mktemp -d /tmp/ulp-fuzz.XXXXXX) || exit 1
export TMPDIR
trap 'rm -rf "$TMPDIR"' EXIT
trap 'exit 130' INT TERM
printf '%s\n' "$@" | xargs -P "$JOBS" -n 1 sh tests/proofs/fuzz/run.sh --one
passed=0 failed=0
for name; do
    case $(cat "$WORK/$name.line" 2>/dev/null) in
    ok*) passed=$((passed + 1)) ;;
    *) failed=$((failed + 1)) ;;
    esac
done
rm -f "$WORK/running"
echo "$passed passed, $failed failed, 0 skipped"
[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
