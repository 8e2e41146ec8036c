#!/bin/sh
# packages.sh - installs the Debian or Ubuntu packages that are missing; does nothing when all are there.
#
# Uses sudo when not run as root.
set -eu
packages='gcc g++ libc6-dev make libmpfr-dev libcmocka-dev librandom123-dev zlib1g-dev gnuplot-nox python3-numpy python3-pytest'
print=
usage='usage: sh packages.sh [--all] [--machines] [--print]

installs the Debian or Ubuntu packages that are missing; uses sudo when not run as root

  --all    also the optional packages: clang, clang-format, OpenMPI, OpenBLAS,
           pkg-config, GNU parallel; libclang-rt for make fuzz, cppcheck and
           clang-tidy for make lint, Valgrind for make memcheck, faketime for make
           reproducible, Z3 with its Python module for make prove; for the page
           lld, wasi-libc and libclang-rt for wasm32, and for its tests Node
           and (on Debian) Chromium; for the notebooks Matplotlib, nbclient,
           nbconvert and ipykernel
  --machines  also what make check-machines and make compilers use: compilers and
           C libraries for aarch64 and s390x, QEMU, musl, older and newer gcc and
           clang, as far as the distribution has them
  --print  prints the list of packages, one on a line, and does nothing else
  --help   this text'
for word; do
    case $word in
    --all) packages="$packages clang clang-format libomp-dev lld libopenmpi-dev openmpi-bin libopenblas-dev pkg-config parallel"
        packages="$packages libclang-rt-dev cppcheck clang-tidy valgrind faketime python3-z3 wasi-libc libclang-rt-dev-wasm32 nodejs python3-matplotlib python3-nbclient python3-nbconvert python3-ipykernel"
        # Ubuntu has Chromium as a snap only
        if grep -qx 'ID=debian' /etc/os-release 2>/dev/null; then packages="$packages chromium"; fi ;;
    --machines)
        for p in gcc-aarch64-linux-gnu g++-aarch64-linux-gnu libc6-dev-arm64-cross gcc-s390x-linux-gnu libc6-dev-s390x-cross qemu-user \
            musl-tools gcc-11 gcc-13 gcc-14 clang-13 clang-16 clang-19; do
            [ -z "$(apt-cache show "$p" 2>/dev/null)" ] || packages="$packages $p"
        done ;;
    --print) print=yes ;;
    --help) printf '%s\n' "$usage"; exit 0 ;;
    *) echo "packages: $word is unknown; the options are --all, --machines, --print and --help" >&2; exit 2 ;;
    esac
done
if [ -n "$print" ]; then
    printf '%s\n' $packages
    exit 0
fi

missing=
for p in $packages; do
    dpkg-query -W -f '${Status}' "$p" 2>/dev/null | grep -q 'install ok installed' || missing="$missing $p"
done
if [ -z "$missing" ]; then
    echo 'packages: nothing is missing'
    exit 0
fi
echo "packages: installing$missing"
as_root=
if [ "$(id -u)" -ne 0 ]; then
    command -v sudo > /dev/null || {
        echo "packages: run this as root, or install sudo; without root, install these by other means:$missing" >&2
        exit 3
    }
    as_root=sudo
fi
$as_root apt-get update -q
# shellcheck disable=SC2086
$as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends $missing
