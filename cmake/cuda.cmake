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
find_package(Python3 REQUIRED COMPONENTS Interpreter)
# Refuses spills and the notes that say that wgmma was serialised; see the script.
set(CMAKE_CUDA_COMPILER_LAUNCHER
    ${Python3_EXECUTABLE} ${PROJECT_SOURCE_DIR}/cmake/ptxas_check.py)
