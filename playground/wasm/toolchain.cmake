# SPDX-License-Identifier: Apache-2.0
# WebAssembly: clang 19 compiles, because clang 14, which Debian's emscripten calls, refuses a
# pointer to a member of an object as a template argument (arch/emu/objects.hpp); emscripten links,
# with its C and C++ libraries.
set(CMAKE_SYSTEM_NAME Generic)
set(CMAKE_SYSTEM_PROCESSOR wasm32)
find_program(TW_EMXX em++ REQUIRED)
find_program(TW_EMAR emar REQUIRED)
find_program(TW_EMRANLIB emranlib REQUIRED)
set(CMAKE_CXX_COMPILER clang++-19)
set(CMAKE_CXX_COMPILER_TARGET wasm32-unknown-emscripten)
set(CMAKE_SYSROOT /usr/share/emscripten/cache/sysroot)
set(CMAKE_AR ${TW_EMAR})
set(CMAKE_CXX_COMPILER_AR ${TW_EMAR})
set(CMAKE_RANLIB ${TW_EMRANLIB})
set(CMAKE_CXX_COMPILER_RANLIB ${TW_EMRANLIB})
set(CMAKE_TRY_COMPILE_TARGET_TYPE STATIC_LIBRARY)
# The options that em++ 3.1.6 passes to its compiler.
set(CMAKE_CXX_FLAGS_INIT
    "-DEMSCRIPTEN -D__EMSCRIPTEN_major__=3 -D__EMSCRIPTEN_minor__=1 -D__EMSCRIPTEN_tiny__=6 \
-D_LIBCPP_ABI_VERSION=2 -Dunix -D__unix -D__unix__ -fno-threadsafe-statics \
-mllvm -combiner-global-alias-analysis=false -mllvm -enable-emscripten-cxx-exceptions \
-mllvm -disable-lsr -Xclang -iwithsysroot/include/compat")
set(CMAKE_CXX_LINK_EXECUTABLE
    "${TW_EMXX} <CMAKE_CXX_LINK_FLAGS> <LINK_FLAGS> <OBJECTS> -o <TARGET> <LINK_LIBRARIES>")
set(CMAKE_EXECUTABLE_SUFFIX_CXX .js)
