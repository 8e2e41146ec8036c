#!/bin/sh
# layers.sh - the direction of dependencies in the tree, checked by a search for includes.
#
# The direction is formats <- kernels <- sim <- experiments <- web. No folder includes tests. Each external header is included
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
forbid 'formats includes nothing above it' "$include(kernels|sim|experiments|tests)/|${include}\.\./" $(sources formats)
forbid 'kernels includes nothing above it' "$include(sim|experiments|tests)/|${include}\.\./" $(sources kernels)
forbid 'sim includes nothing above it' "$include(experiments|tests)/|${include}\.\./" $(sources sim)
forbid 'experiments include nothing above them' "$include(web|tests)/" $(sources experiments)
forbid 'the page needs the arithmetic, not networks nor the command line' "$include(sim|tests)/|${include}experiments/harness/[a-z]+/" $(sources web)
forbid 'other languages need kernels/foreign alone' "${include}(formats|sim|experiments|web)/|${include}kernels/([^f]|f[^o])" $(sources languages)
forbid 'nobody includes tests' "${include}tests/" $(sources formats kernels sim experiments web languages)
forbid 'formats: no stdio, no allocation, no threads' "$include(stdio|stdlib|string|math|pthread|omp)\.h|\b(malloc|calloc|realloc|free|printf)\(" $(sources formats)
forbid 'MPFR has one home' "${include}mpfr\.h" $(sources formats kernels sim experiments | grep -v '^kernels/mpfr/reference\.c$')
forbid 'GMP has one home' "${include}gmp\.h" $(sources formats kernels sim experiments | grep -v '^kernels/mpfr/')
forbid 'MPI has one home' "${include}mpi\.h" $(sources formats kernels sim) $(sources experiments | grep -v '^experiments/harness/sweep/ranks\.c$')
forbid 'Random123 has one home' "${include}Random123" $(sources formats kernels sim experiments web | grep -v '^formats/rng\.h$')
forbid 'CUDA has one home' '^[ \t]*#[ \t]*include[ \t]*(<(cuda|cublas|mma)|"(cuda_|cublas))' $(sources formats sim experiments) $(sources kernels | grep -v '^kernels/cuda/')
forbid 'OpenMP has one home' "${include}omp\.h|# *pragma +omp" $(sources formats sim experiments) $(sources kernels | grep -v '^kernels/threads\.c$')
forbid 'libraries neither print nor exit' '(^|[^a-z_])(printf|puts|putchar|exit|abort|perror)\(|fprintf\(std|stderr|stdout' $(sources formats kernels sim)
forbid 'the rounding environment is never changed' 'fesetround|_MM_SET_|_controlfp' $(sources formats kernels sim experiments web)
forbid 'no fast-math' '-Ofast|-ffast-math|-funsafe' Makefile
forbid 'plots read results only' "['\"](experiments|sim|kernels|formats|tests)/" $(find plots -name '*.gp' | sort)
forbid 'no absolute path of a machine' '(^|[^A-Za-z0-9_.])/(home|work|root|Users)/' $(sources formats kernels sim experiments web tests) $(find web tests/web languages -type f) Makefile README.md CONTRIBUTING.md Containerfile

# The backend mpfr calls no function of other folders but these: threads, movement of data, names, and the code of a result.
own='mpfr_[a-z0-9_]*|reference_[a-z0-9_]*'
other='parallel_for|cpu_im2col_baseline|cpu_permute_baseline|mode_is_stochastic|format_parse|datapath_code|unit_of'
calls=$(grep -noE '\bulp_[a-z0-9_]+\(' $(sources kernels/mpfr | grep -v '/absent\.c$') | grep -vE ":ulp_($own|$other)\($|oracle\.h:")
[ -z "$calls" ] || { echo 'not ok - the backend mpfr shares no arithmetic'; echo "$calls" | sed 's/^/# /'; exit 1; }
echo 'ok - the backend mpfr shares no arithmetic'

exit $failed
