# SPDX-License-Identifier: Apache-2.0
# Targets that need neither the planner nor the built-in kernels:
#   tilewright_layout          headers alone: the layout algebra, tensors and atoms
#   tilewright_emulator        the vocabulary's host backend: the emulator and its checks
#   tilewright_emulator_hooks  __tsan_*: for programs and plugins whose kernels are compiled so that
#                              ordinary loads and stores are seen (tilewright_see_accesses)
# src/FOLDER/**/*.cpp always; *.cu with a CUDA toolkit, *.nocuda.cpp without.
include(GNUInstallDirs)
include(cmake/backtrace.cmake)

# tw_sources(VARIABLE FOLDER...): the sources of these folders of src/ in this build.
function(tw_sources variable)
  set(found "")
  foreach(folder IN LISTS ARGN)
    file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/${folder}/*.cpp)
    if(TW_WITH_CUDA)
      file(GLOB_RECURSE cuda_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/${folder}/*.cu)
      list(FILTER sources EXCLUDE REGEX "\\.nocuda\\.cpp$")
      list(APPEND sources ${cuda_sources})
    endif()
    list(APPEND found ${sources})
  endforeach()
  set(${variable} ${found} PARENT_SCOPE)
endfunction()

# tw_library(TARGET): what all compiled libraries have: include folders, and as a shared library a
# version and the symbols that cmake/exports.txt lists.
set(tw_symbols ${PROJECT_BINARY_DIR}/exports.map)
if(BUILD_SHARED_LIBS)
  if(TW_TOOLS OR TW_TESTS)
    message(FATAL_ERROR "The command and the tests use names that the shared libraries do not "
            "export: -DTW_TOOLS=OFF -DTW_TESTS=OFF, or -DBUILD_SHARED_LIBS=OFF")
  endif()
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS
               ${PROJECT_SOURCE_DIR}/cmake/exports.txt)
  execute_process(COMMAND ${CMAKE_COMMAND} -DLIST=${PROJECT_SOURCE_DIR}/cmake/exports.txt
                  -DMAP=${tw_symbols} -P ${PROJECT_SOURCE_DIR}/cmake/exports.cmake
                  COMMAND_ERROR_IS_FATAL ANY)
endif()
function(tw_library target)
  target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR}/include
                                               ${PROJECT_SOURCE_DIR}/src)
  set_target_properties(${target} PROPERTIES
    POSITION_INDEPENDENT_CODE ON VERSION ${PROJECT_VERSION}
    SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
  get_target_property(type ${target} TYPE)
  if(type STREQUAL "SHARED_LIBRARY")
    target_compile_options(${target} PRIVATE
                           $<$<COMPILE_LANG_AND_ID:CXX,GNU>:-fno-semantic-interposition>)
    target_link_options(${target} PRIVATE -Wl,-z,defs -Wl,--version-script=${tw_symbols})
    set_target_properties(${target} PROPERTIES LINK_DEPENDS ${tw_symbols})
  endif()
endfunction()

# tw_batch(TARGET COUNT): the C++ files of a folder of src/ are compiled COUNT at a time, since
# their headers take most of the time. Names of unnamed namespaces are therefore unique in a folder.
# The batches are the same in every configuration: files that some leave out are compiled alone.
function(tw_batch target count)
  set_target_properties(${target} PROPERTIES UNITY_BUILD ${TW_UNITY} UNITY_BUILD_MODE GROUP)
  get_target_property(sources ${target} SOURCES)
  list(FILTER sources INCLUDE REGEX "^${PROJECT_SOURCE_DIR}/src/.*\\.cpp$")
  list(FILTER sources EXCLUDE REGEX "\\.nocuda\\.cpp$|/source_lines\\.|/product_[a-z0-9]*\\.")
  list(SORT sources)
  foreach(source IN LISTS sources)
    file(RELATIVE_PATH folder ${PROJECT_SOURCE_DIR}/src ${source})
    get_filename_component(folder ${folder} DIRECTORY)
    string(MAKE_C_IDENTIFIER "${folder}" folder)
    math(EXPR batch "${in_${folder}}0 / 10 / ${count}")
    math(EXPR in_${folder} "${in_${folder}} + 1")
    set_source_files_properties(${source} PROPERTIES UNITY_GROUP "${folder}_${batch}")
  endforeach()
endfunction()

add_library(tilewright_layout INTERFACE)
add_library(tilewright::layout ALIAS tilewright_layout)
set_target_properties(tilewright_layout PROPERTIES EXPORT_NAME layout)
# Users get C++20; the sources here have -std=c++20 already, for nvcc too.
set(tw_features cxx_std_20)
if(PROJECT_IS_TOP_LEVEL)
  set(tw_features $<INSTALL_INTERFACE:cxx_std_20>)
endif()
target_compile_features(tilewright_layout INTERFACE ${tw_features})
target_include_directories(tilewright_layout INTERFACE
                           $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>
                           $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)

tw_sources(tw_emulator_sources base layout tensor atom arch emu)
list(FILTER tw_emulator_sources EXCLUDE REGEX "/emu/hook\\.cpp$|/base/log\\.cpp$")
if(TW_BACKTRACE_INCLUDE)
  list(FILTER tw_emulator_sources EXCLUDE REGEX "/emu/host/source_lines\\.nobacktrace\\.cpp$")
else()
  list(FILTER tw_emulator_sources EXCLUDE REGEX "/emu/host/source_lines\\.cpp$")
endif()
set(tw_host_is_x86 OFF)
if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
  set(tw_host_is_x86 ON)
endif()
option(TW_AVX "wgmma products with AVX2 and AVX-512, where the CPU has them" ${tw_host_is_x86})
if(TW_AVX)
  list(FILTER tw_emulator_sources EXCLUDE REGEX "/emu/wgmma/product_scalar\\.cpp$")
else()
  list(FILTER tw_emulator_sources EXCLUDE REGEX "/emu/wgmma/product_(x86|avx2|avx512)\\.cpp$")
endif()
add_library(tilewright_emulator ${tw_emulator_sources})
add_library(tilewright::emulator ALIAS tilewright_emulator)
set_target_properties(tilewright_emulator PROPERTIES EXPORT_NAME emulator)
tw_library(tilewright_emulator)
target_link_libraries(tilewright_emulator PUBLIC tilewright_layout Threads::Threads
                                          PRIVATE fmt::fmt Boost::context)
if(TW_BACKTRACE_INCLUDE)
  set_source_files_properties(${PROJECT_SOURCE_DIR}/src/emu/host/source_lines.cpp PROPERTIES
                              INCLUDE_DIRECTORIES ${TW_BACKTRACE_INCLUDE})
  target_link_libraries(tilewright_emulator PRIVATE backtrace)
endif()
if(TW_WITH_CUDA)
  target_link_libraries(tilewright_emulator PUBLIC ${tw_cudart})
endif()
# One file per instruction set of the host, chosen at run time: NAME_avx2.cpp, NAME_avx512.cpp.
# g++ 12 warns about the undefined operands inside its own intrinsics (its bug 105593).
if(TW_AVX)
  file(GLOB_RECURSE tw_avx2 CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/*_avx2.cpp)
  file(GLOB_RECURSE tw_avx512 CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/*_avx512.cpp)
  set(tw_vector -O3 -mfma -mf16c)
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    list(APPEND tw_vector -Wno-uninitialized -Wno-maybe-uninitialized)
  endif()
  set_source_files_properties(${tw_avx2} ${tw_avx512} PROPERTIES SKIP_PRECOMPILE_HEADERS ON)
  set_source_files_properties(${tw_avx2} PROPERTIES COMPILE_OPTIONS "${tw_vector};-mavx2")
  set_source_files_properties(${tw_avx512} PROPERTIES COMPILE_OPTIONS
    "${tw_vector};-mavx512f;-mavx512bw;-mavx512vl;-mavx512dq;-mprefer-vector-width=512")
endif()
tw_batch(tilewright_emulator 10)
tw_precompile(tilewright_emulator algorithm array cstring fmt/format.h functional map memory
              optional random string unordered_map vector)

# An archive also where the others are shared: each program and plugin has its own __tsan_*.
add_library(tilewright_emulator_hooks STATIC ${PROJECT_SOURCE_DIR}/src/emu/hook.cpp)
add_library(tilewright::emulator_hooks ALIAS tilewright_emulator_hooks)
set_target_properties(tilewright_emulator_hooks PROPERTIES EXPORT_NAME emulator_hooks
                                                           POSITION_INDEPENDENT_CODE ON)
target_include_directories(tilewright_emulator_hooks PRIVATE ${PROJECT_SOURCE_DIR}/src)
target_link_libraries(tilewright_emulator_hooks PUBLIC tilewright_emulator)
# Copies and allocations of kernels, and what would end the process (hook.cpp).
foreach(name memcpy memmove memset
        malloc calloc realloc aligned_alloc free exit _exit _Exit quick_exit
        _Znwm _Znam _ZnwmSt11align_val_t _ZnamSt11align_val_t _ZdlPv _ZdaPv _ZdlPvm _ZdaPvm
        _ZdlPvSt11align_val_t _ZdaPvSt11align_val_t _ZdlPvmSt11align_val_t _ZdaPvmSt11align_val_t)
  target_link_options(tilewright_emulator_hooks INTERFACE LINKER:--wrap=${name})
endforeach()
