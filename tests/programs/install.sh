#!/bin/sh
# install.sh - make install installs all files, and a program outside of the tree can be built with them.
# modes: release
# not with RUN: builds programs and starts them
tree=$(pwd)
. tests/programs/support.sh
cd "$tree" || exit 1
root=$work/root
succeeds 'make install' make --no-print-directory install CC="${CC:-gcc}" DESTDIR="$root" PREFIX=/opt/ulp
prefix=$root/opt/ulp
for f in bin/ulp bin/stagnation lib/libulp.a lib/libulp.so lib/pkgconfig/ulplab.pc include/ulplab/formats/format.h \
    include/ulplab/sim/net.h include/ulplab/kernels/products/datapath.h include/ulplab/kernels/operations.def \
    share/man/man1/ulp.1 share/man/man1/stagnation.1 share/ulplab/digits.csv share/ulplab/plots/style.gp share/doc/ulplab/CITATION.cff share/doc/ulplab/README.md; do
    succeeds "installs $f" test -s "$prefix/$f"
done
# an installed program uses the installed library, not the library in the build folder
succeeds 'an installed program runs' "$prefix/bin/ulp" backends
libulp=$(ldd "$prefix/bin/ulp" | sed -n 's/.*libulp\.so\.[0-9.]* => \([^ ]*\) .*/\1/p')
# the name that programs ask for: libulp.so.0.MINOR, from version 1 on libulp.so.MAJOR
soname=$(sed -n 's/^VERSION := //p' Makefile | sed -E 's/^0\.([0-9]+)\..*/libulp.so.0.\1/; s/^([1-9][0-9]*)\..*/libulp.so.\1/')
succeeds 'with the installed library' test "$(readlink -f "$libulp")" = "$(readlink -f "$prefix/lib/$soname")"
for command in $("$BIN/ulp" help 2>/dev/null | sed -n '1,/^topics/s/^  \([a-z]\{1,\}\) .*/\1/p'); do
    succeeds "installs a page of ulp $command" grep -q -- '^ulp '"$command"' \\- ' "$prefix/share/man/man1/ulp-$command.1"
    succeeds "and ulp.1 names it" grep -qx '\.BR ulp\\-'"$command"' (1),\{0,1\}' "$prefix/share/man/man1/ulp.1"
done
succeeds 'the page of ulp round has its options' grep -q '^  \\-\\-mode MODE ' "$prefix/share/man/man1/ulp-round.1"
for topic in $("$BIN/ulp" help 2>/dev/null | sed -n '/^topics/,/^$/s/^  \([a-z]\{1,\}\) .*/\1/p'); do
    succeeds "installs a page of $topic" test -s "$prefix/share/man/man7/ulp-$topic.7"
done
if command -v man > /dev/null; then
    succeeds 'man reads a page' sh -c "MANWIDTH=80 man -l '$prefix/share/man/man1/ulp.1' 2>&1 | grep -q 'ulp .* part of ulplab'"
else
    skip 'man reads a page' 'no man'
fi
succeeds 'keeps the oracle to itself' test ! -e "$prefix/include/ulplab/kernels/mpfr/reference.h"
succeeds 'the shared library has a version in its name' test -s "$(readlink -f "$prefix/lib/$soname")"
cat > "$work/use.c" << 'END'
#include "formats/round.h"
#include "kernels/backend.h"
int main(void) {
    ulp_format f;
    const ulp_backend *backend;
    float x = 0.1f, y = 0;
    if (ulp_format_parse(&f, "e4m3") != ULP_OK || ulp_round(464.0, &f, (ulp_rule){0}, 0) != 448.0) return 1;
    if (ulp_backend_get(&backend, NULL) != ULP_OK) return 1;
    if (ulp_backend_round(backend, &y, &x, 1, (ulp_rounding){.format = &f}) != ULP_OK) return 1;
    return y == 0.1015625f ? 0 : 1;
}
END
succeeds 'a program links with the shared library' "${CC:-gcc}" -I"$prefix/include/ulplab" "$work/use.c" -L"$prefix/lib" -lulp -o "$work/use"
succeeds 'and runs' env LD_LIBRARY_PATH="$prefix/lib" "$work/use"
# the README's program, built as the README says; the folder of the .pc file moves with the prefix
if command -v pkg-config > /dev/null; then
    sed -n '/^```c$/,/^```$/p' README.md | sed '/^```/d' > "$work/prog.c"
    pc() { PKG_CONFIG_PATH=$prefix/lib/pkgconfig pkg-config --define-variable=prefix="$prefix" "$@" ulplab; }
    succeeds 'pkg-config knows it' pc --exists
    # shellcheck disable=SC2046
    succeeds "pkg-config's flags build the README's program" "${CC:-gcc}" "$work/prog.c" $(pc --cflags --libs) -o "$work/prog"
    succeeds 'which finds the library and runs' env -u LD_LIBRARY_PATH sh -c "[ \"\$('$work/prog')\" = 448 ]"
else
    skip 'pkg-config knows it' 'no pkg-config'
fi
succeeds 'an installed experiment finds its data from anywhere' sh -c "cd / && '$prefix/bin/loss_scaling' --quick --quiet --list"
printf '#!/bin/sh\n[ "$*" = -dumpmachine ] && echo riscv64-linux-gnu || exec %s "$@"\n' "${CC:-gcc}" > "$work/cross" && chmod +x "$work/cross"
succeeds 'a wheel is for the machine of the compiler' \
    sh -c "unset MAKEFLAGS MFLAGS MAKELEVEL ISAS; make -n NVCC= CC='$work/cross' BUILD='$work/riscv64' wheel | grep 'ULPLAB_PLATFORM=linux_riscv64 '"
# a server with many users: the installation is read-only, and a program writes only where its user stands
chmod -R a-w "$root" && chmod a+rx "$work"
mkdir "$work/home" && chmod 777 "$work/home"
cat > "$work/use.sh" << END
cd '$work/home' && PATH=$prefix/bin:\$PATH || exit 1
stagnation --formats binary16 --modes rne --quiet && test -s results/stagnation.csv || exit 1
loss_scaling --quick --quiet --list > /dev/null || exit 1
ulp course sheet --id anna --out . L0 && test -s anna-L0.csv
END
if [ "$(id -u)" -ne 0 ]; then succeeds 'a user of a read-only installation runs programs' sh "$work/use.sh"
elif command -v su > /dev/null && id nobody > /dev/null 2>&1; then
    succeeds 'another user of a read-only installation runs programs' su -s /bin/sh nobody -c "sh '$work/use.sh'"
else skip 'another user of a read-only installation runs programs' 'no su or no user nobody'; fi
find "$root" -newer "$work/use.sh" > "$work/written"
succeeds 'and nothing is written into the installation' test ! -s "$work/written"
chmod -R u+w "$root"
# a program without its data says how to name the folder
mkdir "$work/moved" "$work/moved/bin" && cp "$prefix/bin/loss_scaling" "$work/moved/bin" && cp -r "$prefix/lib" "$work/moved/lib"
succeeds 'a program alone names --data and ULPLAB_DATA' sh -c "cd '$work/home' && unset ULPLAB_DATA
    ../moved/bin/loss_scaling --quick --quiet --out x.csv 2>&1 | tr '\n' ' ' | grep -q 'no digits.csv .* by --data or .*ULPLAB_DATA'"
exit $failed
