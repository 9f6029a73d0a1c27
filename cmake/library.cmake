# SPDX-License-Identifier: Apache-2.0
# The library: src/**/*.cpp always; src/**/*.cu with a CUDA toolkit, src/**/*.nocuda.cpp without;
# and the kernels of TW_KERNELS, whose sources gen/instances.py writes into the build folder.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

file(GLOB_RECURSE tw_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/*.cpp)
if(TW_WITH_CUDA)
  file(GLOB_RECURSE tw_cuda_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/*.cu)
  list(FILTER tw_sources EXCLUDE REGEX "\\.nocuda\\.cpp$")
  list(APPEND tw_sources ${tw_cuda_sources})
endif()

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

set(TW_KERNELS full CACHE STRING "Kernels to build: full, or representative (tests and demos)")
set_property(CACHE TW_KERNELS PROPERTY STRINGS full representative)
file(GLOB tw_instance_lists CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/family/*/instances.*)
list(FILTER tw_instance_lists INCLUDE REGEX "\\.(txt|py)$")
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS
             ${tw_instance_lists} ${PROJECT_SOURCE_DIR}/gen/instances.py)
set(tw_generated ${PROJECT_BINARY_DIR}/generated)
set(tw_with_device_code "")
if(TW_WITH_CUDA)
  set(tw_with_device_code --cuda)
endif()
execute_process(
  COMMAND ${Python3_EXECUTABLE} -B ${PROJECT_SOURCE_DIR}/gen/instances.py
          --out ${tw_generated}/family --set ${TW_KERNELS} ${tw_with_device_code}
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

add_library(tilewright STATIC ${tw_sources} ${tw_kernel_sources} ${tw_embedded_devices}
                              ${tw_embedded_tuning})
add_library(tilewright::tilewright ALIAS tilewright)
# One file per instruction set of the host, chosen at run time: NAME_avx2.cpp, NAME_avx512.cpp.
# g++ 12 warns about the undefined operands inside its own intrinsics (its bug 105593).
if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
  file(GLOB_RECURSE tw_avx2 CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/*_avx2.cpp)
  file(GLOB_RECURSE tw_avx512 CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/*_avx512.cpp)
  set(tw_vector -O3 -mfma -mf16c -Wno-uninitialized -Wno-maybe-uninitialized)
  set_source_files_properties(${tw_avx2} ${tw_avx512} PROPERTIES SKIP_PRECOMPILE_HEADERS ON)
  set_source_files_properties(${tw_avx2} PROPERTIES COMPILE_OPTIONS "${tw_vector};-mavx2")
  set_source_files_properties(${tw_avx512} PROPERTIES COMPILE_OPTIONS
    "${tw_vector};-mavx512f;-mavx512bw;-mavx512vl;-mavx512dq;-mprefer-vector-width=512")
endif()
tw_precompile(tilewright algorithm array cstring fmt/format.h functional map memory optional random
              string unordered_map vector)
# Hundreds of kernels whose time in the emulator is spent in src/emu: -O2 compiles half as long
# again.
set(tw_emulated ${tw_kernel_sources})
list(FILTER tw_emulated INCLUDE REGEX "/emu_[a-z0-9_]*\\.cpp$")
set_source_files_properties(${tw_emulated} PROPERTIES COMPILE_OPTIONS "${tw_quick_to_compile}")
target_include_directories(tilewright PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>
                                             $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>
                                      PRIVATE ${PROJECT_SOURCE_DIR}/src)
set_source_files_properties(${PROJECT_SOURCE_DIR}/src/family/kernel_set.cpp PROPERTIES
                            COMPILE_DEFINITIONS TW_KERNEL_SET="${TW_KERNELS}")
target_link_libraries(tilewright PRIVATE fmt::fmt spdlog::spdlog Boost::context SQLite::SQLite3
                                         $<BUILD_INTERFACE:nlohmann_json::nlohmann_json>
                                         backtrace  # comes with g++: lines of machine addresses
                                 PUBLIC Threads::Threads)
if(TW_WITH_CUDA)
  target_link_libraries(tilewright PUBLIC CUDA::cudart_static)
endif()

# find_package(tilewright) then tilewright::tilewright; tests/consumer is such a user.
set(tw_config_folder ${CMAKE_INSTALL_LIBDIR}/cmake/tilewright)
configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/tilewrightConfig.cmake.in
                              ${PROJECT_BINARY_DIR}/tilewrightConfig.cmake
                              INSTALL_DESTINATION ${tw_config_folder})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/tilewrightConfigVersion.cmake
                                 COMPATIBILITY SameMinorVersion)
install(TARGETS tilewright EXPORT tilewrightTargets)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/tilewright
        DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(EXPORT tilewrightTargets NAMESPACE tilewright:: DESTINATION ${tw_config_folder})
install(FILES ${PROJECT_BINARY_DIR}/tilewrightConfig.cmake
              ${PROJECT_BINARY_DIR}/tilewrightConfigVersion.cmake
              ${PROJECT_SOURCE_DIR}/cmake/add_kernel.cmake
              ${PROJECT_SOURCE_DIR}/cmake/ptxas_check.py DESTINATION ${tw_config_folder})
