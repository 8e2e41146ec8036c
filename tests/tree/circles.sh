#!/bin/sh
# circles.sh - source files do not use each other in circles, and use lower floors only; judged by symbols of objects.
#
# A file uses another file if its object needs a symbol that the object of the other file defines. This is an arrow. If
# several programs define a symbol, the definition of the using program counts. The objects of one source for several
# instruction sets count as one file. An arrow between folders must point to a lower floor (see `floors`).
# not with RUN: reads objects by this machine's tools
BIN=${BIN:-build/bin}
objects=$(dirname "$BIN")/obj
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
failed=0

# The floors from the lowest to the highest: a number, and the beginning of the names of the files on this floor. If
# several beginnings fit a name, the longest counts. Folders with the same number must not use each other.
cat >"$dir/floors" <<'END'
0 formats/
1 base/
2 kernels/rounding/
3 kernels/functions/
4 kernels/products/
5 kernels/
5 kernels/cpu/native/
6 kernels/cpu/
6 kernels/cuda/
7 kernels/mpfr/
8 kernels/backend.c
8 kernels/operations.c
8 kernels/products/datapath_native.c
9 kernels/probe/
9 kernels/reduction/
10 kernels/foreign/
11 sim/
12 experiments/harness/cli/
13 experiments/harness/table/
14 experiments/harness/claims/
14 experiments/harness/sweep/
15 experiments/harness/training/
16 experiments/harness/
17 experiments/
17 course/
18 experiments/main.c
18 tool/
END

verdict() { # verdict STATUS TEXT
    if [ "$1" -eq 0 ]; then
        echo "ok - $2"
    else
        echo "not ok - $2"
        failed=1
    fi
}

# objects_of FOLDER TREE: the objects under FOLDER whose source is in TREE, with their sources. nvcc makes the objects of
# kernels/cuda, or they are objects for the emulated device. make/table.sh makes made/NAME.c, the table of sim/NAME.
objects_of() {
    (cd "$1" && find . -name '*.o') | sed 's|^\./||' | grep -E '^(emulated/kernels/cuda|formats|base|kernels|made|sim|experiments|tool|course)/' | sort |
        while read -r object; do
            case $object in
            made/layers.o | made/losses.o | made/data.o | made/optim.o) echo "$object sim/${object%.o}.c" && continue ;;
            made/*) continue ;;
            esac
            source=$(echo "$object" | sed -E 's/\.o$//; s/\.(baseline|neon|sve256|avx2|avx512)$//; s|^emulated/||')
            if [ -e "$2/$source.c" ]; then echo "$object $source.c"; fi
            if [ -e "$2/$source.cu" ]; then echo "$object $source.cu"; fi
        done >"$dir/found"
    # absent.c of kernels/cuda or of kernels/mpfr replaces the other sources of its folder
    for folder in cuda mpfr; do
        if [ "$(grep -c " kernels/$folder/" "$dir/found")" -gt 1 ]; then
            grep -v " kernels/$folder/absent\.c$" "$dir/found" >"$dir/kept"
            mv "$dir/kept" "$dir/found"
        fi
    done
    cat "$dir/found"
}

# arrows FOLDER TREE: lines "USER USED SYMBOL"
arrows() {
    objects_of "$1" "$2" >"$dir/objects"
    (cd "$1" && cut -d' ' -f1 "$dir/objects" | xargs "${NM:-nm}" -A -P -g) >"$dir/symbols" || return 1
    awk '
    function owner(file,    part) {
        split(file, part, "/")
        if (part[1] == "tool" || part[1] == "course") return "tool"
        if (part[1] != "experiments") return "libraries"
        return part[2] == "harness" ? "harness" : part[2]
    }
    function defined(user, symbol,    o) {
        o = owner(user)
        if ((o, symbol) in home) return home[o, symbol]
        if (o != "libraries" && ("harness", symbol) in home) return home["harness", symbol]
        if (("libraries", symbol) in home) return home["libraries", symbol]
        return symbol in above ? above[symbol] : "" # what only files above define
    }
    NR == FNR { file[$1] = $2; next }
    {
        object = $1
        sub(/\[.*\]:$|:$/, "", object)
        if ($3 ~ /^[TDBRCGS]$/ && $2 != "main") {
            home[owner(file[object]), $2] = file[object]
            if (owner(file[object]) != "libraries") above[$2] = file[object]
        }
        if ($3 ~ /^[Uw]$/) needs[file[object] " " $2] = 1
    }
    END {
        for (need in needs) {
            split(need, part, " ")
            used = defined(part[1], part[2])
            if (used != "" && used != part[1]) print part[1], used, part[2]
        }
    }' "$dir/objects" "$dir/symbols" | sort
}

# ties FILE...: the arrows of $dir/arrows among these files, one line each with the symbols
ties() {
    awk -v files=" $* " 'index(files, " " $1 " ") && index(files, " " $2 " ") {
        key = $1 " -> " $2
        symbols[key] = symbols[key] == "" ? $3 : symbols[key] ", " $3
    }
    END { for (key in symbols) print "#     " key ": " symbols[key] }' "$dir/arrows" | sort
}

# circles: write each circle of $dir/arrows to $dir/circles, one line of file names each; status 0 if there is none
circles() {
    cut -d' ' -f1,2 "$dir/arrows" | sort -u | tsort 2>&1 >/dev/null |
        awk '/loop|cycle/ { if (line != "") print line; line = ""; next }
            { line = line (line == "" ? "" : " ") $NF }
            END { if (line != "") print line }' >"$dir/circles"
    [ ! -s "$dir/circles" ]
}

# climbs: write the arrows of $dir/arrows that do not point to a lower floor to $dir/climbs; status 0 if there is none
climbs() {
    awk '
    function folder(file) {
        if (file ~ /^experiments\/harness\//) return file ~ /^experiments\/harness\/[^\/]*\// ? place(file) : "experiments/harness"
        if (file ~ /^experiments\//) { split(file, part, "/"); return "experiments/" part[2] "/" }
        return place(file)
    }
    function place(file,    beginning, best) {
        best = ""
        for (beginning in floor)
            if (index(file, beginning) == 1 && length(beginning) > length(best)) best = beginning
        return best
    }
    NR == FNR { floor[$2] = $1; next }
    folder($1) != folder($2) && floor[place($1)] + 0 <= floor[place($2)] + 0 {
        key = $1 " -> " $2 ":"
        symbols[key] = symbols[key] " " $3
    }
    END { for (key in symbols) print key symbols[key] | "sort" }
    ' "$dir/floors" "$dir/arrows" >"$dir/climbs"
    [ ! -s "$dir/climbs" ]
}

# report FOLDER TREE: print circles and climbing arrows of the objects, with the symbols. Status 0 if there are none.
report() {
    arrows "$1" "$2" >"$dir/arrows" || return 2
    found=0
    circles || while read -r files; do
        echo "# circle: $files" && found=1
        ties $files
    done <"$dir/circles"
    climbs || while read -r user arrow used symbol; do
        echo "# arrow up: $user $arrow $used $symbol" && found=1
    done <"$dir/climbs"
    return $found
}

# ---- this build ----

find formats base kernels sim experiments tool course -name '*.c' ! -path kernels/cuda/absent.c ! -path kernels/mpfr/absent.c | sort >"$dir/sources"
objects_of "$objects" . | cut -d' ' -f2 | sort -u | comm -23 "$dir/sources" - | sed 's/^/# no object of /' >"$dir/missing"
cat "$dir/missing"
[ ! -s "$dir/missing" ]
verdict $? 'every source has an object'
report "$objects" .
verdict $? 'no circle of source files, and no arrow up'
[ "$(wc -l <"$dir/arrows")" -gt 500 ]
verdict $? 'arrows were seen'

# ---- planted circles are caught ----

# plant FOLDER OBJECT TEXT: compile TEXT as FOLDER/OBJECT.o, beside an empty source of its name
plant() {
    mkdir -p "$1/$(dirname "$2")"
    echo "$3" >"$dir/planted.c"
    "${CC:-cc}" -c "$dir/planted.c" -o "$1/$2.o" && : >"$1/$(echo "$2" | sed 's/\.[a-z0-9]*$//').c"
}

plant "$dir/one" formats/a 'int b(void); int a(void) { return b(); }'
plant "$dir/one" formats/b 'int b(void) { return 1; }'
plant "$dir/one" kernels/cpu/k.baseline 'int a(void); int k_baseline(void) { return a(); }'
report "$dir/one" "$dir/one" >"$dir/said" && [ "$(cat "$dir/arrows")" = 'formats/a.c formats/b.c b
kernels/cpu/k.c formats/a.c a' ]
verdict $? 'planted: arrows down are no circle'

plant "$dir/one" formats/b 'int a(void); int b(void) { return a(); }'
report "$dir/one" "$dir/one" >"$dir/said"
[ $? -eq 1 ] && grep -qE '^# circle: formats/(a.c formats/b|b.c formats/a)\.c$' "$dir/said" &&
    grep -q '^#     formats/a.c -> formats/b.c: b$' "$dir/said" && grep -q '^#     formats/b.c -> formats/a.c: a$' "$dir/said"
verdict $? 'planted: a circle of two files is found, with its symbols'

plant "$dir/two" kernels/cpu/k.baseline 'int l_baseline(void); int k_baseline(void) { return l_baseline(); }'
plant "$dir/two" kernels/cpu/k.avx2 'int k_avx2(void) { return 1; }'
plant "$dir/two" kernels/cpu/l.baseline 'int l_baseline(void) { return 1; }'
plant "$dir/two" kernels/cpu/l.avx2 'int k_avx2(void); int l_avx2(void) { return k_avx2(); }'
report "$dir/two" "$dir/two" >"$dir/said"
[ $? -eq 1 ] && grep -q '^# circle: kernels/cpu/' "$dir/said" && [ "$(wc -l <"$dir/circles")" -eq 1 ]
verdict $? 'planted: objects for two instruction sets are one file'

plant "$dir/three" sim/layers/s 'int run(void); int s(void) { return run(); }'
plant "$dir/three" experiments/e/e 'int run(void) { return 1; }'
report "$dir/three" "$dir/three" >"$dir/said"
[ $? -eq 1 ] && grep -q '^# arrow up: sim/layers/s.c -> experiments/e/e.c: run$' "$dir/said"
verdict $? 'planted: a library that needs a program is found'

plant "$dir/four" experiments/e/e 'int help(void); int main(void) { return help(); }'
plant "$dir/four" experiments/e/claims 'int help(void) { return 1; }'
plant "$dir/four" experiments/f/f 'int help(void) { return 2; }'
report "$dir/four" "$dir/four" >"$dir/said" && [ "$(cat "$dir/arrows")" = 'experiments/e/e.c experiments/e/claims.c help' ]
verdict $? 'planted: a name of two programs belongs to the one that uses it'

plant "$dir/five" experiments/e/e 'int help(void); int main(void) { return help(); }'
plant "$dir/five" experiments/f/f 'int help(void) { return 2; }'
report "$dir/five" "$dir/five" >"$dir/said"
[ $? -eq 1 ] && grep -q '^# arrow up: experiments/e/e.c -> experiments/f/f.c: help$' "$dir/said"
verdict $? 'planted: a program that needs another program is found'

# in a copy of these objects: the threads, which need nothing, now need the backends
mkdir "$dir/copy"
(cd "$objects" && find formats base kernels -name '*.o' | xargs tar cf -) | (cd "$dir/copy" && tar xf -)
echo 'const char *ulp_backend_names(void); const char *planted(void) { return ulp_backend_names(); }' >"$dir/planted.c"
"${CC:-cc}" -c "$dir/planted.c" -o "$dir/planted.o" && ld -r "$objects/base/threads.o" "$dir/planted.o" -o "$dir/copy/base/threads.o"
verdict $? 'a copy of the objects has a planted circle'
report "$dir/copy" . >"$dir/said"
[ $? -eq 1 ] && grep -q '^# circle: .*base/threads\.c' "$dir/said" &&
    grep -q '^#     base/threads.c -> kernels/backend.c: ulp_backend_names$' "$dir/said" &&
    grep -q '^# arrow up: base/threads.c -> kernels/backend.c: ulp_backend_names$' "$dir/said"
verdict $? 'planted: it is found among them'
exit $failed
