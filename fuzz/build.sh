#!/usr/bin/env bash
# The C kernels with the address and undefined-behaviour sanitizers: fuzz/build.sh FOLDER gcc|clang|atheris|libfuzzer
#
# gcc, clang   a copy of the package in FOLDER, whose extension needs that compiler's sanitizer library preloaded
# atheris      the same with coverage counters, for atheris's library preloaded (clang)
# libfuzzer    FOLDER/scanner: the kernels and fuzz/scanner.c as one program, with coverage counters (clang)
set -euo pipefail
here=$(cd "$(dirname "$0")/.." && pwd)
into=$1
kind=$2
python=${PYTHON:-python3}
flags="-O2 -g -fno-omit-frame-pointer -ffp-contract=off -fsanitize=address,undefined -fno-sanitize-recover=undefined"
read -r include libraries name < <("$python" -c 'import sysconfig as s
print(s.get_paths()["include"], s.get_config_var("LIBDIR"), "python" + s.get_config_var("LDVERSION"))')
mkdir -p "$into"
# shellcheck disable=SC2086
if [ "$kind" = libfuzzer ]; then
    clang $flags -I"$include" -c "$here/fuzz/scanner.c" -o "$into/scanner.o"
    clang $flags -fsanitize=fuzzer -I"$include" "$into/scanner.o" "$here"/src/unjudged/kernels/*.c -o "$into/scanner" \
        -L"$libraries" -Wl,-rpath,"$libraries" -l"$name" -lm
else
    compiler=clang
    case $kind in
        gcc) compiler=gcc ;;
        clang) flags="$flags -shared-libasan" ;;
        atheris) flags="$flags -fsanitize=fuzzer-no-link" ;;
        *) echo "fuzz/build.sh: unknown kind $kind" >&2; exit 2 ;;
    esac
    rm -rf "$into/unjudged"
    cp -r "$here/src/unjudged" "$into/"
    rm -f "$into"/unjudged/kernels/_c*.so
    "$compiler" $flags -fPIC -shared -I"$include" "$here"/src/unjudged/kernels/*.c -o "$into/unjudged/kernels/_c.abi3.so"
fi
