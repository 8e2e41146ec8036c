#!/bin/sh
# reproducible.sh - make reproducible: two builds of one tree have the same bytes, whoever builds, where and when.
#
# The tracked files are copied to two folders of WORK. The second build runs a day later (faketime), in a longer path, with
# another language, time zone, umask, home and number of jobs. Both are installed; the page, the wheel and the archives of the
# course are made where their tools are there. Every file counts as a test.
set -u
unset MAKEFLAGS MAKELEVEL MFLAGS SOURCE_DATE_EPOCH
rm -rf "$WORK"
mkdir -p "$WORK"
WORK=$(cd "$WORK" && pwd)
seconds=$(git log -1 --format=%ct 2>/dev/null || cut -d ' ' -f 3 .commit)
failed=0 skipped=0

# build FOLDER JOBS ROOT [COMMAND...]: copy, build and install; COMMAND runs make
build() {
    tree=$1 jobs=$2 root=$3
    shift 3
    mkdir -p "$tree" "$root" || return
    if [ -e .git ]; then git ls-files -z | xargs -0 tar -cf - | tar -xf - -C "$tree"
    else tar --exclude=./build --exclude=./results --exclude=./figures --exclude=./.gpu -cf - . | tar -xf - -C "$tree"; fi || return
    # the copy has no repository, and names the commit as an archive does
    echo "$(git rev-parse HEAD 2>/dev/null || echo unknown) day $seconds" >"$tree/.commit"
    (
        cd "$tree" || exit
        "$@" make -j"$jobs" NVCC="$NVCC" all && "$@" make NVCC="$NVCC" install DESTDIR="$root" PREFIX=/usr || exit
        if [ -n "$WEB" ]; then "$@" make NVCC="$NVCC" web && cp build/web/ulplab.html "$root" || exit; fi
        if [ -n "$wheel" ]; then
            "$@" make -j"$jobs" NVCC="$NVCC" PYTHON="$PYTHON" wheel && cp build/wheel/*.whl "$root" || exit
        fi
        "$@" make NVCC="$NVCC" course IDS=anna || exit
        for archive in build/course/*.zip build/course/*.tar.gz; do [ ! -e "$archive" ] || cp "$archive" "$root"; done
    ) >"$root.log" 2>&1 || { tail -5 "$root.log"; return 1; }
}

# list FOLDER: the checksum and the name of each file
list() {
    (cd "$1" && find . ! -type d | LC_ALL=C sort | while read -r file; do
        if [ -L "$file" ]; then echo "link-to-$(readlink "$file")  $file"; else sha256sum "$file"; fi
    done)
}

# without: a part that is left out counts as skipped
without() {
    echo "skipped: $1"
    skipped=$((skipped + 1))
}
wheel=yes
"$PYTHON" -m pip --version >/dev/null 2>&1 || { wheel= && without 'no wheel, Python has no pip'; }
[ -n "$WEB" ] || without 'no page, its compiler is missing'
[ -n "$NVCC" ] || without 'no kernels of CUDA, nvcc is missing'
later=
if command -v faketime >/dev/null; then
    later='faketime -f +1d'
    # a program of nvcc waits for ever under faketime, so it sees the true time
    if [ -n "$NVCC" ]; then
        CUDA_HOME=$(dirname "$(dirname "$(realpath "$(command -v "$NVCC")")")")
        export CUDA_HOME
        printf '%s\n' '#!/bin/sh' 'unset LD_PRELOAD' "exec $(command -v "$NVCC") \"\$@\"" >"$WORK/nvcc"
        chmod +x "$WORK/nvcc"
        NVCC=$WORK/nvcc
    fi
else without 'both builds are of today, faketime is missing'; fi
build "$WORK/one" "$(getconf _NPROCESSORS_ONLN)" "$WORK/root1" env LC_ALL=C TZ=UTC || failed=$((failed + 1))
# shellcheck disable=SC2086
(umask 027 && build "$WORK/a_longer/path/two" 3 "$WORK/root2" env LC_ALL=C.UTF-8 TZ=Asia/Kathmandu HOME="$WORK/home" $later) ||
    failed=$((failed + 1))
for root in root1 root2; do list "$WORK/$root" >"$WORK/$root.txt"; done
differ=$(diff "$WORK/root1.txt" "$WORK/root2.txt" | sed -n 's/^[<>] [^ ]* *//p' | sort -u)
for file in $differ; do
    echo "not ok - $file differs"
    failed=$((failed + 1))
done
passed=$(grep -cxFf "$WORK/root1.txt" "$WORK/root2.txt")
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
