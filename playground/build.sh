#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# build.sh  ./dev playground: part of ./dev, with its functions.

# clang 19 compiles and emscripten links: wasm/toolchain.cmake.
playground_packages=(emscripten clang-19 libfmt-dev nlohmann-json3-dev libcli11-dev cmake
                     ninja-build python3 nodejs)

help_playground() {
  cat <<'TEXT'
./dev playground
Builds build-playground/, a folder of static pages: open its index.html, or serve it with
`tilewright playground`. The command's code becomes WebAssembly in build-wasm/, by Debian's
emscripten and clang-19, which are installed first if apt-get has them; it takes about 10 minutes
on two cores the first time. Without them nothing is built, and a message says so.
TEXT
}

# The modules and the pages; status 1 without the tools.
build_playground() {
  local tool
  for tool in em++ clang++-19 node; do
    command -v "$tool" >/dev/null && continue
    say "no $tool: the playground is not built (Debian: ${playground_packages[*]})"
    return 1
  done
  export NODE_PATH=/usr/share/nodejs  # Debian's acorn, which emscripten's scripts need
  if ! [[ -f build-wasm/build.ninja ]]; then
    mkdir -p build-wasm
    watched build-wasm/configure.log cmake -G Ninja -S playground -B build-wasm \
      "-DCMAKE_TOOLCHAIN_FILE=$PWD/playground/wasm/toolchain.cmake" ||
      { tail -n 40 build-wasm/configure.log >&2; die "configuring failed"; }
  fi
  compile build-wasm
  python3 -B playground/assemble.py --modules build-wasm --out build-playground ||
    die "playground: see above"
}

# playground_for_tests VARIANT REGEX LABEL...: the pages for tests/playground, which are skipped
# without. They are built if emscripten is found and one of these tests will run.
playground_for_tests() {
  local variant=$1 regex=$2; shift 2
  if [[ $variant ]] || { (($#)) && [[ " $* " != *' playground '* ]]; }; then return; fi
  if runs_script playground "$regex" && { (($#)) || command -v em++ >/dev/null; }; then
    build_playground || true
  fi
}

cmd_playground() {
  want "${playground_packages[@]}"
  if build_playground; then say "open build-playground/index.html"; fi
}
