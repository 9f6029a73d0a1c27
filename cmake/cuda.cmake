# SPDX-License-Identifier: Apache-2.0
# Decides TW_WITH_CUDA and sets up nvcc: sm_90a machine code only, every kernel checked.
set(TW_WITH_CUDA ${TW_CUDA})
if(TW_CUDA STREQUAL "AUTO")
  include(CheckLanguage)
  check_language(CUDA)
  set(TW_WITH_CUDA OFF)
  if(CMAKE_CUDA_COMPILER)
    execute_process(COMMAND ${CMAKE_CUDA_COMPILER} --version OUTPUT_VARIABLE tw_nvcc)
    if(tw_nvcc MATCHES "release ([0-9]+)" AND CMAKE_MATCH_1 GREATER_EQUAL 13)
      set(TW_WITH_CUDA ON)
    endif()
  endif()
endif()
if(NOT TW_WITH_CUDA)
  return()
endif()

set(CMAKE_CUDA_ARCHITECTURES 90a-real)  # machine code, no PTX (plain 90a would embed PTX too)
enable_language(CUDA)
if(CMAKE_CUDA_COMPILER_VERSION VERSION_LESS 13.0)
  message(FATAL_ERROR "TW_CUDA=ON needs a CUDA 13 toolkit, found ${CMAKE_CUDA_COMPILER_VERSION}; "
                      "configure with -DTW_CUDA=OFF for the emulator alone")
endif()
find_package(CUDAToolkit 13.0 REQUIRED)
set(tw_cudart CUDA::cudart_static)
if(BUILD_SHARED_LIBS)  # one runtime for all shared libraries of a process
  set(tw_cudart CUDA::cudart)
endif()
find_package(Python3 REQUIRED COMPONENTS Interpreter)
# Machine code is most of the library: compressed it takes a sixth.
add_compile_options($<$<COMPILE_LANGUAGE:CUDA>:--compress-mode=size>)
# Spills, and notes that wgmma was serialised, are errors here and warnings for a packager, whose
# ptxas may be newer than any that was tried; see the script.
option(TW_PTXAS_STRICT "Kernels that ptxas spills or serialises are errors, not warnings" OFF)
set(tw_ptxas_policy --warn)
if(TW_PTXAS_STRICT)
  set(tw_ptxas_policy --strict)
endif()
set(CMAKE_CUDA_COMPILER_LAUNCHER ${Python3_EXECUTABLE} ${PROJECT_SOURCE_DIR}/cmake/ptxas_check.py
                                 ${tw_ptxas_policy})
if(TW_CCACHE)
  list(APPEND CMAKE_CUDA_COMPILER_LAUNCHER ${TW_CCACHE})
endif()
