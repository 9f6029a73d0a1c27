# SPDX-License-Identifier: Apache-2.0
# tilewright_add_kernel(NAME SOURCES FILE... [CUDA])
#
# NAME.so: the kernels of the sources as a plugin for `tilewright check` (docs/checking.md). The
# compiler calls the emulator before each plain load and store; the plugin holds its own emulator
# and exports tilewright_plugin alone.
# With CUDA, in a project that has enabled the language CUDA, NAME_gpu.so too: the same sources for
# sm_90a, which `tilewright check` runs on a GPU and compares results only. A kernel that
# ptxas does not keep as written (wgmma serialised, registers moved) does not build.
#
# tilewright_see_accesses(TARGET)
#
# The kernels in TARGET's sources are emulated with their plain loads and stores seen: for programs
# that call tw::emu::run, as unit tests do.

function(tilewright_see_accesses target)
  if(NOT CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    message(FATAL_ERROR "tilewright needs g++ here: the emulator sees plain accesses through the "
                        "calls that its -fsanitize=thread makes; found ${CMAKE_CXX_COMPILER_ID}")
  endif()
  # Of the sources alone: the program is not linked with that sanitizer.
  target_compile_options(${target} PRIVATE
    -g1 $<$<CONFIG:>:-O2> -fsanitize=thread --param=tsan-instrument-func-entry-exit=0
    -fno-optimize-sibling-calls  # a return address in the kernel is the line of an access
    # g++ would copy a constant number of bytes inline, after the calls have been inserted: also
    # for std::copy, whose code names the built-in functions.
    -fno-builtin-memcpy -fno-builtin-memmove -fno-builtin-memset "SHELL:-include cstring"
    -D__builtin_memcpy=::memcpy -D__builtin_memmove=::memmove -D__builtin_memset=::memset)
  # Else the allocations of std::string are made in libstdc++, where the emulator does not see them.
  target_compile_definitions(${target} PRIVATE _GLIBCXX_EXTERN_TEMPLATE=0)
  # A property: the caller may use either signature of target_link_libraries.
  set_property(TARGET ${target} APPEND PROPERTY LINK_LIBRARIES tilewright::emulator_hooks)
endfunction()

function(tilewright_add_kernel name)
  cmake_parse_arguments(PARSE_ARGV 1 kernel "CUDA" "" "SOURCES")
  if(NOT kernel_SOURCES OR kernel_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "tilewright_add_kernel(NAME SOURCES file.cpp... [CUDA])")
  endif()
  set(exports ${CMAKE_CURRENT_BINARY_DIR}/${name}.exports)
  file(WRITE ${exports} "{ global: tilewright_plugin; local: *; };\n")

  add_library(${name} MODULE ${kernel_SOURCES})
  tilewright_plugin_properties(${name} ${exports})
  tilewright_see_accesses(${name})

  if(kernel_CUDA AND CMAKE_CUDA_COMPILER)
    set(wrappers "")
    foreach(source IN LISTS kernel_SOURCES)
      get_filename_component(path ${source} ABSOLUTE)
      get_filename_component(stem ${source} NAME_WE)
      set(wrapper ${CMAKE_CURRENT_BINARY_DIR}/${name}_${stem}.cu)
      file(CONFIGURE OUTPUT ${wrapper} CONTENT "#include \"${path}\"\n")
      list(APPEND wrappers ${wrapper})
    endforeach()
    find_package(CUDAToolkit 13.0 REQUIRED)
    find_package(Python3 REQUIRED COMPONENTS Interpreter)
    set(check ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/ptxas_check.py)
    add_library(${name}_gpu MODULE ${wrappers})
    tilewright_plugin_properties(${name}_gpu ${exports})
    set_target_properties(${name}_gpu PROPERTIES
      CUDA_ARCHITECTURES 90a-real LINKER_LANGUAGE CXX
      CUDA_COMPILER_LAUNCHER "${Python3_EXECUTABLE};${check};--spills-pass")
    target_link_libraries(${name}_gpu PRIVATE CUDA::cudart_static)
  endif()
endfunction()

function(tilewright_plugin_properties target exports)
  set_target_properties(${target} PROPERTIES PREFIX "" POSITION_INDEPENDENT_CODE ON
                                             LINK_DEPENDS ${exports})
  target_compile_options(${target} PRIVATE $<$<COMPILE_LANGUAGE:CXX,CUDA>:-std=c++20>)
  target_link_libraries(${target} PRIVATE tilewright::tilewright)
  target_link_options(${target} PRIVATE -Wl,-z,defs -Wl,--version-script=${exports})
endfunction()
