# SPDX-License-Identifier: Apache-2.0
# tilewright, the whole library: the emulator, the planner and the kernels that are built in, whose
# sources gen/instances.py writes into the build folder.
file(GLOB tw_folders CONFIGURE_DEPENDS LIST_DIRECTORIES true RELATIVE ${PROJECT_SOURCE_DIR}/src
     ${PROJECT_SOURCE_DIR}/src/*)
list(REMOVE_ITEM tw_folders base layout tensor atom arch emu)
tw_sources(tw_library_sources ${tw_folders})
list(APPEND tw_library_sources ${PROJECT_SOURCE_DIR}/src/base/log.cpp)

# devices/*.json as a C++ source; a key that is missing or unknown ends the build.
find_package(Python3 REQUIRED COMPONENTS Interpreter)
file(GLOB tw_devices CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/devices/*.json)
set(tw_embedded_devices ${PROJECT_BINARY_DIR}/embedded/devices.cpp)
add_custom_command(OUTPUT ${tw_embedded_devices}
  COMMAND ${CMAKE_COMMAND} -E make_directory ${PROJECT_BINARY_DIR}/embedded
  COMMAND ${Python3_EXECUTABLE} -B ${PROJECT_SOURCE_DIR}/gen/devices.py
          --folder ${PROJECT_SOURCE_DIR}/devices --out ${tw_embedded_devices}
  DEPENDS ${PROJECT_SOURCE_DIR}/gen/devices.py ${tw_devices}
  COMMENT "Embedding the descriptions of devices" VERBATIM)

set(TW_KERNELS full CACHE STRING "Kernels to build: full, representative (tests) or demo")
set_property(CACHE TW_KERNELS PROPERTY STRINGS full representative demo)
# smoke: each path of the code once, and no GPU code of the command.
set(TW_DEVICE_KERNELS "" CACHE STRING "Kernels with device code: as TW_KERNELS, or smoke")
set_property(CACHE TW_DEVICE_KERNELS PROPERTY STRINGS "" smoke)
file(GLOB tw_instance_lists CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/family/*/instances.*)
list(FILTER tw_instance_lists INCLUDE REGEX "\\.(txt|py)$")
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS
             ${tw_instance_lists} ${PROJECT_SOURCE_DIR}/gen/instances.py
             ${PROJECT_SOURCE_DIR}/gen/family_headers.py)
# Sources and headers of families, included as family/NAME/....
set(tw_generated ${PROJECT_BINARY_DIR}/generated)
set(tw_device_set "")
if(TW_WITH_CUDA)
  set(tw_device_set --device ${TW_KERNELS})
  if(TW_DEVICE_KERNELS)
    set(tw_device_set --device ${TW_DEVICE_KERNELS})
  endif()
endif()
execute_process(
  COMMAND ${Python3_EXECUTABLE} -B ${PROJECT_SOURCE_DIR}/gen/instances.py
          --out ${tw_generated}/family --set ${TW_KERNELS} ${tw_device_set}
  OUTPUT_VARIABLE tw_kernel_sources COMMAND_ERROR_IS_FATAL ANY)

# data/tuning/*.csv likewise; a row that names a kernel which no list has ends the build.
file(GLOB tw_tuning CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/data/tuning/*.csv)
set(tw_embedded_tuning ${PROJECT_BINARY_DIR}/embedded/tuning.cpp)
add_custom_command(OUTPUT ${tw_embedded_tuning}
  COMMAND ${CMAKE_COMMAND} -E make_directory ${PROJECT_BINARY_DIR}/embedded
  COMMAND ${Python3_EXECUTABLE} -B ${PROJECT_SOURCE_DIR}/gen/tuning.py embed
          --folder ${PROJECT_SOURCE_DIR}/data/tuning --devices ${PROJECT_SOURCE_DIR}/devices
          --out ${tw_embedded_tuning}
  DEPENDS ${PROJECT_SOURCE_DIR}/gen/tuning.py ${PROJECT_SOURCE_DIR}/gen/instances.py
          ${tw_instance_lists} ${tw_tuning} ${tw_devices}
  COMMENT "Embedding the tuning tables" VERBATIM)

# Device code for other architectures than those of the library: src/family/NAME/device_code.cmake
# sets tw_code, options of nvcc, and tw_code_alone, a word, where only these assemble the kernels.
set(tw_objects_alone "")
set(tw_all_code "")
if(TW_WITH_CUDA)
  file(GLOB tw_code_files CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/family/*/device_code.cmake)
  foreach(code_file ${tw_code_files})
    set(tw_code_alone "")
    include(${code_file})
    list(APPEND tw_all_code ${tw_code})
    get_filename_component(family ${code_file} DIRECTORY)
    get_filename_component(family ${family} NAME)
    set(of_family ${tw_kernel_sources})
    list(FILTER of_family INCLUDE REGEX "/${family}/gpu_[a-z0-9_]*\\.cu$")
    if(NOT tw_code_alone)
      set_source_files_properties(${of_family} PROPERTIES COMPILE_OPTIONS "${tw_code}")
      continue()
    endif()
    list(REMOVE_ITEM tw_kernel_sources ${of_family})
    set(alone tilewright_${tw_code_alone})
    if(NOT TARGET ${alone})
      add_library(${alone} OBJECT)
      target_include_directories(${alone} PRIVATE ${PROJECT_SOURCE_DIR}/include
                                                  ${PROJECT_SOURCE_DIR}/src ${tw_generated})
      set_target_properties(${alone} PROPERTIES CUDA_ARCHITECTURES OFF
                                                POSITION_INDEPENDENT_CODE ON)
      target_compile_options(${alone} PRIVATE "${tw_code}")
      list(APPEND tw_objects_alone $<TARGET_OBJECTS:${alone}>)
    endif()
    target_sources(${alone} PRIVATE ${of_family})
  endforeach()
  list(REMOVE_DUPLICATES tw_all_code)
  list(SORT tw_all_code ORDER DESCENDING)
endif()

# Kernels with a record of their stages or with a gate: not among those whose registers tests/golden
# has.
set(tw_profiled ${tw_kernel_sources})
list(FILTER tw_profiled INCLUDE REGEX "/(profiled_gpu|gated_gpu_[0-9]+)\\.cu$")
if(tw_profiled)
  list(REMOVE_ITEM tw_kernel_sources ${tw_profiled})
  add_library(tilewright_profiled OBJECT ${tw_profiled})
  target_include_directories(tilewright_profiled PRIVATE ${PROJECT_SOURCE_DIR}/include
                                                         ${PROJECT_SOURCE_DIR}/src ${tw_generated})
  set_target_properties(tilewright_profiled PROPERTIES POSITION_INDEPENDENT_CODE ON)
  list(APPEND tw_objects_alone $<TARGET_OBJECTS:tilewright_profiled>)
endif()

add_library(tilewright ${tw_library_sources} ${tw_kernel_sources} ${tw_embedded_devices}
                              ${tw_embedded_tuning} ${tw_objects_alone})
add_library(tilewright::tilewright ALIAS tilewright)
tw_library(tilewright)
target_include_directories(tilewright PRIVATE ${tw_generated})
tw_batch(tilewright 10)
tw_precompile(tilewright algorithm array cstring fmt/format.h functional map memory optional random
              string unordered_map vector)
# Hundreds of kernels whose time in the emulator is spent in src/emu: -O2 compiles half as long
# again.
set(tw_emulated ${tw_kernel_sources})
list(FILTER tw_emulated INCLUDE REGEX "/(profiled_|gated_)?emu[a-z0-9_]*\\.cpp$")
set_source_files_properties(${tw_emulated} PROPERTIES COMPILE_OPTIONS "${tw_quick_to_compile}")
# Launches beside a GEMM's kernel, which copy operands and scales before it or quantise D after it,
# run where any family's kernels do; tests/golden/fat_binaries_test.py requires it.
if(TW_WITH_CUDA)
  file(GLOB_RECURSE tw_beside_gemms CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/dispatch/*.cu
       ${PROJECT_SOURCE_DIR}/src/dist/*.cu)
  set_source_files_properties(${tw_beside_gemms} PROPERTIES COMPILE_OPTIONS "${tw_all_code}")
endif()
set(tw_sets TW_KERNEL_SET="${TW_KERNELS}" TW_DEVICE_SET="${TW_DEVICE_KERNELS}")
set_source_files_properties(${PROJECT_SOURCE_DIR}/src/family/kernel_set.cpp PROPERTIES
                            COMPILE_DEFINITIONS "${tw_sets}")
target_link_libraries(tilewright PUBLIC tilewright_emulator
                                 PRIVATE fmt::fmt spdlog::spdlog Boost::context SQLite::SQLite3)
# Its headers alone, so that installed targets do not name it.
target_include_directories(tilewright SYSTEM PRIVATE
  $<TARGET_PROPERTY:nlohmann_json::nlohmann_json,INTERFACE_INCLUDE_DIRECTORIES>)
