#!/usr/bin/env bash
# The C kernels with the address and undefined-behaviour sanitizers: fuzz/build.sh FOLDER gcc|clang|atheris|libfuzzer|replay
#
# gcc, clang   a copy of the package in FOLDER, whose extension needs that compiler's sanitizer library preloaded
# atheris      the same with coverage counters, for atheris's library preloaded (clang)
# libfuzzer    FOLDER/scanner, lines, look, calls and numbers: the kernels and a target as one program, with coverage counters (clang)
# replay       the same programs for files given to them, without coverage (gcc)
set -euo pipefail
here=$(cd "$(dirname "$0")/.." && pwd)
into=$1
kind=$2
python=${PYTHON:-python3}
plain="-O2 -g -fno-omit-frame-pointer -ffp-contract=off"
flags="$plain -fsanitize=address,undefined -fno-sanitize-recover=undefined"
read -r include libraries name < <("$python" -c 'import sysconfig as s
print(s.get_paths()["include"], s.get_config_var("LIBDIR"), "python" + s.get_config_var("LDVERSION"))')
mkdir -p "$into"
# shellcheck disable=SC2086
if [ "$kind" = libfuzzer ] || [ "$kind" = replay ]; then
    compiler=gcc driver="$here/fuzz/replay.c" coverage=""
    if [ "$kind" = libfuzzer ]; then
        # the counters of comparisons would take a third of the time, and the texts have no secret words
        compiler=clang driver="-fsanitize=fuzzer" coverage="-fsanitize=fuzzer-no-link -fno-sanitize-coverage=trace-cmp"
    fi
    rm -rf "$into/objects"
    mkdir "$into/objects"
    for source in "$here"/src/unjudged/kernels/*.c; do
        $compiler $flags $coverage -I"$include" -c "$source" -o "$into/objects/$(basename "$source" .c).o"
    done
    # what calls the kernels is not looked at, so it is built without sanitizers and counters: a third of the time
    for target in embedded scanner look calls; do
        $compiler $plain -I"$include" -c "$here/fuzz/$target.c" -o "$into/$target.o"
    done
    $compiler $plain -I"$include" -DSHORT -c "$here/fuzz/scanner.c" -o "$into/lines.o"
    $compiler $flags -I"$include" -I"$here/src/unjudged/kernels" -c "$here/fuzz/numbers.c" -o "$into/numbers.o"
    for target in scanner lines look calls numbers; do
        $compiler $flags $driver "$into/$target.o" "$into/embedded.o" "$into"/objects/*.o -o "$into/$target" \
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
