#!/bin/sh
# packages.sh - installs the Debian or Ubuntu packages that are missing; does nothing when all are there.
#
# Uses sudo when not run as root. `packages.sh --all` adds the optional ones: clang, OpenMPI, OpenBLAS.
set -eu
packages='gcc g++ libc6-dev make libmpfr-dev libcmocka-dev librandom123-dev zlib1g-dev gnuplot-nox'
[ "${1:-}" = --all ] && packages="$packages clang clang-format libomp-dev lld libopenmpi-dev openmpi-bin libopenblas-dev"

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
    command -v sudo > /dev/null || { echo 'packages: run this as root, or install sudo' >&2; exit 3; }
    as_root=sudo
fi
$as_root apt-get update -q
# shellcheck disable=SC2086
$as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends $missing
