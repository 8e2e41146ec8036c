#!/bin/sh
# layers.sh - the direction of dependencies in the tree, checked by a search for includes.
#
# The direction is formats <- base <- kernels <- sim <- harness <- experiments, course <- tool; web is apart. No folder includes tests. Each external header is included
# in one place. Only experiments and tests print, read argv or exit. Plots read results only.
# modes: release
failed=0

# forbid TEXT PATTERN FILE...: no line of the files matches
forbid() {
    text=$1 pattern=$2
    shift 2
    hits=$(grep -nE -e "$pattern" "$@" /dev/null)
    if [ -z "$hits" ]; then
        echo "ok - $text"
    else
        echo "not ok - $text"
        echo "$hits" | sed 's/^/# /'
        failed=1
    fi
}

sources() { find "$@" -name '*.[ch]' -o -name '*.def' -o -name '*.cu' -o -name '*.cuh' | sort; }

include='^[ \t]*#[ \t]*include[ \t]*[<"]'
forbid 'formats includes nothing above it' "$include(base|kernels|sim|experiments|tool|course|tests)/|${include}\.\./" $(sources formats)
forbid 'base includes nothing above it' "$include(kernels|sim|experiments|tool|course|tests)/|${include}\.\./" $(sources base)
forbid 'kernels includes nothing above it' "$include(sim|experiments|tool|course|tests)/|${include}\.\./" $(sources kernels)
forbid 'sim includes nothing above it' "$include(experiments|tool|course|tests)/|${include}\.\./" $(sources sim)
forbid 'experiments include nothing above them' "$include(web|tool|course|tests)/" $(sources experiments)
forbid 'the course includes nothing above it' "$include(web|tool|tests)/|${include}experiments/[^h]" $(sources course)
forbid 'the tool needs no experiment' "$include(web|tests)/|${include}experiments/[^h]" $(sources tool)
forbid 'the page needs the arithmetic, not networks nor the command line' "$include(sim|tests)/|${include}experiments/harness/[a-z]+/" $(sources web)
forbid 'other languages need kernels/foreign alone' "${include}(formats|base|sim|experiments|tool|course|web)/|${include}kernels/([^f]|f[^o])" $(sources languages)
forbid 'nobody includes tests' "${include}tests/" $(sources formats base kernels sim experiments tool course web languages)
forbid 'formats: no stdio, no allocation, no threads' "$include(stdio|stdlib|string|math|pthread|omp)\.h|\b(malloc|calloc|realloc|free|printf)\(" $(sources formats)
forbid 'MPFR has one home' "${include}mpfr\.h" $(sources formats base kernels sim experiments tool course | grep -v '^kernels/mpfr/reference\.c$')
forbid 'GMP has one home' "${include}gmp\.h" $(sources formats base kernels sim experiments tool course | grep -v '^kernels/mpfr/')
forbid 'MPI has one home' "${include}mpi\.h" $(sources formats base kernels sim) $(sources experiments tool course | grep -v '^experiments/harness/sweep/ranks\.c$')
forbid 'Random123 has one home' "${include}Random123" $(sources formats base kernels sim experiments tool course web | grep -v '^formats/rng\.h$')
forbid 'CUDA has one home' '^[ \t]*#[ \t]*include[ \t]*(<(cuda|cublas|mma)|"(cuda_|cublas))' $(sources formats base sim experiments tool course) $(sources kernels | grep -v '^kernels/cuda/')
forbid 'OpenMP has one home' "${include}omp\.h|# *pragma +omp" $(sources formats base kernels sim experiments tool course | grep -v '^base/threads\.c$')
forbid 'libraries neither print nor exit' '(^|[^a-z_])(printf|puts|putchar|exit|abort|perror)\(|fprintf\(std|stderr|stdout' $(sources formats base kernels sim)
forbid 'the rounding environment is never changed' 'fesetround|_MM_SET_|_controlfp' $(sources formats base kernels sim experiments tool course web)
scripts=$(find . -path ./build -prune -o -name '*.sh' -print | grep -v '/layers\.sh$')
forbid 'scripts and make need no GNU form that busybox lacks' \
    '(^|[^a-z])(sed -i|tail --pid|seq -[0-9]|find [^|]*-printf|od --|od -[^|]*-w[0-9]|sha256sum --|cp -u|cp --|mktemp --|xargs -[da]|stat --|install -D|tar [^|]*-T|grep -[a-zA-Z]*P)( |$|[a-z0-9])|INSTALL\) -D' \
    $scripts Makefile $(find . -path ./build -prune -o -name '*.mk' -print)
forbid 'no fast-math' '-Ofast|-ffast-math|-funsafe' Makefile
# Text is read at the command line: libraries take rows, and compare formats by ulp_format_equal() and kinds by pointer.
library=$(sources formats base kernels sim)
forbid 'libraries read no literal as a name' '_(parse|find)\(([^;"]*, )?"' $library
forbid 'libraries compare no names of formats and kinds' 'strcmp\([^;]*(->|\.)name, ("|[a-z_>.-]*(->|\.)name\))' $(echo "$library" | grep -v '^kernels/products/datapath_')
doors='kernels/(backend\.c|cpu/native/native\.c|cuda/native\.cu|products/datapath_(names|settings)\.c)'
forbid 'kernels compare words at their doors alone' 'str(n?case|n)?cmp\([^;]*"' $(sources kernels | grep -vE "^$doors$")
forbid 'no state of a thread but the text for other languages' '_Thread_local|__thread' $(sources formats base kernels sim | grep -vE '^kernels/(foreign/message\.c|cuda/device\.cu)$')
forbid 'plots read results only' "['\"](experiments|tool|course|sim|kernels|base|formats|tests)/" $(find plots -name '*.gp' | sort)
forbid 'no absolute path of a machine' '(^|[^A-Za-z0-9_.])/(home|work|root|Users)/' $(sources formats base kernels sim experiments tool course web tests) $(find web tests/programs/web languages -type f) Makefile README.md CONTRIBUTING.md Containerfile

# A file says its own name first, and the guard of a header ends with it.
wrong=$(sources formats base kernels sim experiments tool course web tests | xargs awk '
    FNR == 1 {
        name = FILENAME
        sub(/.*\//, "", name)
        if (index($0, "/* " name " - ") != 1 && index($0, "// " name " - ") != 1) print FILENAME ": its first line names another file"
        want = toupper(name)
        sub(/\.H$/, "_H", want)
        guarded = 0
    }
    name ~ /\.h$/ && !guarded && /^#ifndef [A-Z0-9_]*_H$/ {
        guarded = 1
        if (substr($2, length($2) - length(want) + 1) != want) print FILENAME ": the guard is " $2
    }')
if [ -z "$wrong" ]; then
    echo 'ok - files and guards have their own names'
else
    echo 'not ok - files and guards have their own names'
    echo "$wrong" | sed 's/^/# /'
    failed=1
fi

# The backend mpfr calls no function of other folders but these: threads, memory, movement of data, names, and the code of a result.
own='mpfr_[a-z0-9_]*|reference_[a-z0-9_]*'
other='parallel_for|aligned_alloc|cpu_im2col_baseline|cpu_permute_baseline|mode_is_stochastic|datapath_code|unit_of'
calls=$(grep -noE '\bulp_[a-z0-9_]+\(' $(sources kernels/mpfr | grep -v '/absent\.c$') | grep -vE ":ulp_($own|$other)\($|oracle\.h:")
[ -z "$calls" ] || { echo 'not ok - the backend mpfr shares no arithmetic'; echo "$calls" | sed 's/^/# /'; exit 1; }
echo 'ok - the backend mpfr shares no arithmetic'

exit $failed
