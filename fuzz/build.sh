#!/usr/bin/env bash
# The C kernels with the address and undefined-behaviour sanitizers: fuzz/build.sh FOLDER gcc|clang|atheris|libfuzzer|replay
#
# gcc, clang   a copy of the package in FOLDER, whose extension needs that compiler's sanitizer library preloaded
# atheris      the same with coverage counters, for atheris's library preloaded (clang)
# libfuzzer    FOLDER/scanner and FOLDER/numbers: the kernels and fuzz/NAME.c as one program, with coverage counters (clang)
# replay       the same programs for files given to them, without coverage (gcc)
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
if [ "$kind" = libfuzzer ] || [ "$kind" = replay ]; then
    if [ "$kind" = libfuzzer ]; then compiler=clang; driver="-fsanitize=fuzzer"; else compiler=gcc; driver="$here/fuzz/replay.c"; fi
    for target in scanner numbers; do
        $compiler $flags -I"$include" -I"$here/src/unjudged/kernels" -c "$here/fuzz/$target.c" -o "$into/$target.o"
        $compiler $flags $driver -I"$include" "$into/$target.o" "$here"/src/unjudged/kernels/*.c -o "$into/$target" \
            -L"$libraries" -Wl,-rpath,"$libraries" -l"$name" -lm
    done
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
