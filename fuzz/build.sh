#!/usr/bin/env bash
# The C kernels with sanitizers, into a folder: fuzz/build.sh FOLDER [clang|gcc]
# clang also counts coverage for atheris. The folder goes first on PYTHONPATH; the sanitizer's library is preloaded.
set -euo pipefail
here=$(cd "$(dirname "$0")/.." && pwd)
into=$1
compiler=${2:-clang}
python=${PYTHON:-python3}
flags="-O1 -g -fPIC -shared -fno-omit-frame-pointer -fsanitize=address,undefined -fno-sanitize-recover=undefined"
[ "$compiler" = clang ] && flags="$flags -fsanitize=fuzzer-no-link -shared-libasan"
include=$("$python" -c 'import sysconfig; print(sysconfig.get_paths()["include"])')
mkdir -p "$into"
cp -r "$here/src/unjudged" "$into/"
rm -f "$into"/unjudged/kernels/_c*.so
# shellcheck disable=SC2086
"$compiler" $flags -DPy_LIMITED_API=0x030B0000 -I"$include" "$here"/src/unjudged/kernels/*.c -o "$into/unjudged/kernels/_c.abi3.so"
