# SPDX-License-Identifier: Apache-2.0
# Tests by folder; the folder is the CTest label.
#   tests/FOLDER/*_test.cpp  one GoogleTest program per folder: test_FOLDER; with NAME.cpp of a
#                            header NAME.hpp there, and the files of tests/FOLDER/ROOM/ likewise
#   tests/FOLDER/*_test.py   one CTest each, with TW_COMMAND, TW_SOURCE_DIR and TW_BINARY_DIR set;
#                            of tw_scripts_by_method one for each method: FOLDER.NAME.METHOD
#   tests/gpu/*.cu           with CUDA and TW_GPU_TESTS, one program each: gpu_NAME; exit status 77
#                            means skipped; dist/*.cu and wgmma/*.cu there likewise
find_package(BLAS REQUIRED)  # what kernels are compared with
find_package(GTest REQUIRED)
find_package(rapidcheck REQUIRED)
find_package(Python3 REQUIRED COMPONENTS Interpreter)
include(GoogleTest)

# Time limits are those of a hang: at least ten times what the longest test takes (130 s), so that a
# busy machine fails none.
set(tw_hang_s 3600)

# Tuning results of this machine must not change a test.
set(tw_test_environment TILEWRIGHT_TUNE=off TW_COMMAND=$<TARGET_FILE:tilewright_command>
    TW_SOURCE_DIR=${PROJECT_SOURCE_DIR} TW_BINARY_DIR=${PROJECT_BINARY_DIR}
    TW_NVCC=${CMAKE_CUDA_COMPILER} TW_NVCC_VERSION=${CMAKE_CUDA_COMPILER_VERSION})

# The folders whose programs use the emulator alone, or the library without the command; a build
# of a few test programs then compiles no more than they need.
set(tw_emulator_tests arch base law pipeline tensor)
set(tw_library_tests atom c dispatch dist family kernel)

# Folders whose files are compiled in batches: most of the time of a file alone is spent in headers
# and templates that all use (decision 0039). Names of unnamed namespaces are unique in each.
set(tw_batched_tests atom bench conform dispatch hazard kernel law layout tensor tools)

# Includes, libraries and paths of a test program, by its folder; paths are macros and environment.
function(tw_test_program target folder)
  target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR} ${PROJECT_SOURCE_DIR}/src
                                               ${PROJECT_SOURCE_DIR}/tools ${tw_generated})
  target_compile_definitions(${target} PRIVATE TW_SOURCE_DIR="${PROJECT_SOURCE_DIR}"
                                               TW_COMMAND="$<TARGET_FILE:tilewright_command>")
  # -fpch-preprocess: for ccache. At -O1 g++ 12 warns falsely about comparing strings.
  target_compile_options(${target} PRIVATE ${tw_quick_to_compile}
    $<$<COMPILE_LANG_AND_ID:CXX,GNU>:-fpch-preprocess;-Wno-stringop-overread>
    $<$<COMPILE_LANG_AND_ID:CXX,Clang>:-fconstexpr-steps=33554432>)  # g++'s limit
  target_link_libraries(${target} PRIVATE tilewright_emulator_hooks fmt::fmt spdlog::spdlog
                                          nlohmann_json::nlohmann_json)
  if(folder IN_LIST tw_library_tests)
    target_link_libraries(${target} PRIVATE tilewright ${BLAS_LIBRARIES})
    if(folder STREQUAL "c")
      target_link_libraries(${target} PRIVATE tilewright_c)
    endif()
  elseif(NOT folder IN_LIST tw_emulator_tests)
    target_link_libraries(${target} PRIVATE tilewright_tools tilewright ${BLAS_LIBRARIES})
    add_dependencies(${target} tilewright_command)
  endif()
endfunction()

# One CTest, FOLDER.NAME, that runs a script with these arguments.
function(tw_script_test folder name script)
  set(test ${folder}.${name})
  add_test(NAME ${test} COMMAND ${Python3_EXECUTABLE} -B ${script} ${ARGN})
  set_tests_properties(${test} PROPERTIES LABELS ${folder} TIMEOUT ${tw_hang_s} SKIP_RETURN_CODE 77
                       ENVIRONMENT "${tw_test_environment}")
  if(test IN_LIST tw_long_scripts)
    set_tests_properties(${test} PROPERTIES COST 100)
  endif()
endfunction()

add_executable(tests_precompiled ${PROJECT_SOURCE_DIR}/tests/precompiled.cpp)
tw_test_program(tests_precompiled base)
target_link_libraries(tests_precompiled PRIVATE GTest::gtest)
tw_precompile(tests_precompiled algorithm functional gtest/gtest.h map random set string vector)

# The kernels of tests/hazard have ordinary loads and stores that the emulator sees
# (src/emu/hook.cpp): all files of the folder are compiled so, with a precompiled header of these
# options.
add_executable(tests_seen_precompiled ${PROJECT_SOURCE_DIR}/tests/precompiled.cpp)
tw_test_program(tests_seen_precompiled hazard)
target_link_libraries(tests_seen_precompiled PRIVATE GTest::gtest)
target_compile_options(tests_seen_precompiled PRIVATE ${tw_seen_options})
tw_precompile(tests_seen_precompiled cstring algorithm functional gtest/gtest.h map
              nlohmann/json.hpp random set string vector)
set(tw_seen_tests ${PROJECT_SOURCE_DIR}/tests/ladder/blackwell_test.cpp)
set_source_files_properties(${tw_seen_tests} PROPERTIES SKIP_PRECOMPILE_HEADERS ON)
tw_accesses_seen(${tw_seen_tests})

# src/layout/operations.hpp and tensors name a type alike.
set_source_files_properties(${PROJECT_SOURCE_DIR}/tests/atom/copy_names_test.cpp PROPERTIES
                            SKIP_UNITY_BUILD_INCLUSION ON)

# Scripts with several long methods that do not depend on each other.
set(tw_scripts_by_method consumer.consumer_test)

# The longest scripts, which take 10 to 130 s of one core, and the folders whose programs have tests
# of 5 to 25 s: ctest starts them first, so that no long test runs alone at the end.
set(tw_long_scripts consumer.consumer_test.test_own_kernels_are_checked
                    consumer.consumer_test.test_installed_tree_is_enough fail.fail_test
                    lint.headers_test docs.tutorial_test docs.console_test
                    kernel.sm100_assembly_test kernel.block_scaled_assembly_test
                    lint.ptxas_check_test tools.plugin_load_test tools.gemm_block_scaled_test
                    python.package_test)
set(tw_long_programs kernel tools)

file(GLOB tw_test_folders CONFIGURE_DEPENDS LIST_DIRECTORIES true ${PROJECT_SOURCE_DIR}/tests/*)
if(NOT TW_WITH_C_LIBRARY)
  list(REMOVE_ITEM tw_test_folders ${PROJECT_SOURCE_DIR}/tests/c)
endif()
foreach(folder ${tw_test_folders})
  get_filename_component(label ${folder} NAME)
  file(GLOB programs CONFIGURE_DEPENDS ${folder}/*.cpp ${folder}/*/*.cpp)
  foreach(source ${programs})
    string(REGEX REPLACE "\\.cpp$" ".hpp" header ${source})
    if(NOT source MATCHES "_test\\.cpp$" AND NOT EXISTS ${header})
      list(REMOVE_ITEM programs ${source})
    endif()
  endforeach()
  if(programs)
    add_executable(test_${label} ${programs})
    tw_test_program(test_${label} ${label})
    target_link_libraries(test_${label} PRIVATE GTest::gtest GTest::gtest_main rapidcheck)
    if(label STREQUAL "hazard")
      target_compile_options(test_${label} PRIVATE ${tw_seen_options})
      target_precompile_headers(test_${label} REUSE_FROM tests_seen_precompiled)
    else()
      target_precompile_headers(test_${label} REUSE_FROM tests_precompiled)
    endif()
    if(label IN_LIST tw_batched_tests)
      set(batch 8)
      if(label STREQUAL "hazard")  # eight of these take 45 s (decision 0087)
        set(batch 6)
      endif()
      set_target_properties(test_${label} PROPERTIES UNITY_BUILD ${TW_UNITY}
                                                     UNITY_BUILD_BATCH_SIZE ${batch})
    endif()
    set(cost 0)
    if(label IN_LIST tw_long_programs)
      set(cost 10)
    endif()
    gtest_discover_tests(test_${label} DISCOVERY_TIMEOUT 600
                         PROPERTIES LABELS ${label} TIMEOUT ${tw_hang_s} COST ${cost}
                                    ENVIRONMENT TILEWRIGHT_TUNE=off)
  endif()
  file(GLOB scripts CONFIGURE_DEPENDS ${folder}/*_test.py)
  foreach(script ${scripts})
    get_filename_component(name ${script} NAME_WE)
    if("${label}.${name}" IN_LIST tw_scripts_by_method)
      set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${script})
      file(STRINGS ${script} methods REGEX "^    def test_")
      foreach(method ${methods})
        string(REGEX REPLACE "^ *def ([a-z0-9_]+).*" "\\1" method ${method})
        tw_script_test(${label} ${name}.${method} ${script} -k "*.${method}")
        set_tests_properties(${label}.${name}.${method} PROPERTIES
                             SKIP_REGULAR_EXPRESSION "OK \\(skipped=1\\)")
      endforeach()
    else()
      tw_script_test(${label} ${name} ${script})
    endif()
  endforeach()
endforeach()
foreach(script IN LISTS tw_long_scripts)
  if(NOT TEST ${script})
    message(FATAL_ERROR "tw_long_scripts: there is no test ${script}")
  endif()
endforeach()

# The command with a kernel that has a planted fault, of tests/tools/gemm_hazards_test.py.
add_executable(faulty_command ${PROJECT_SOURCE_DIR}/tests/tools/faulty/sm100_gemm.cpp
                              $<TARGET_OBJECTS:tilewright_command>)
tw_test_program(faulty_command tools)
tw_accesses_seen(${PROJECT_SOURCE_DIR}/tests/tools/faulty/sm100_gemm.cpp)
add_dependencies(test_tools faulty_command)

# The plugin of tests/tools/check_options_test.py.
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  tilewright_add_kernel(check_options SOURCES ${PROJECT_SOURCE_DIR}/tests/tools/plugin/options.cpp)
  target_compile_options(check_options PRIVATE -fno-sanitize=address)
  set_target_properties(check_options PROPERTIES
    LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/plugins)
endif()

# The libnccl of tests/dist/nccl_test.cpp.
add_library(fake_nccl MODULE ${PROJECT_SOURCE_DIR}/tests/dist/fake_nccl/fake_nccl.cpp)
target_include_directories(fake_nccl PRIVATE ${PROJECT_SOURCE_DIR})
set_target_properties(fake_nccl PROPERTIES LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/plugins)
target_compile_definitions(test_dist PRIVATE TW_BINARY_DIR="${PROJECT_BINARY_DIR}")
add_dependencies(test_dist fake_nccl)

# Elsewhere they could only be skipped, and take a minute and more to compile.
if(TW_GPU_TESTS STREQUAL "ON" OR (TW_GPU_TESTS STREQUAL "AUTO" AND EXISTS /dev/nvidiactl))
  set(tw_build_gpu_tests ON)
endif()
if(TW_WITH_CUDA AND tw_build_gpu_tests)
  file(GLOB tw_gpu_tests CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tests/gpu/*.cu
       ${PROJECT_SOURCE_DIR}/tests/gpu/dist/*.cu ${PROJECT_SOURCE_DIR}/tests/gpu/wgmma/*.cu)
  if(NOT TW_WITH_C_LIBRARY)
    list(REMOVE_ITEM tw_gpu_tests ${PROJECT_SOURCE_DIR}/tests/gpu/c_library.cu)
  endif()
  foreach(source ${tw_gpu_tests})
    get_filename_component(name ${source} NAME_WE)
    add_executable(gpu_${name} ${source})
    tw_test_program(gpu_${name} gpu)
    target_link_libraries(gpu_${name} PRIVATE GTest::gtest)
    add_test(NAME gpu.${name} COMMAND gpu_${name})
    set_tests_properties(gpu.${name} PROPERTIES LABELS gpu TIMEOUT ${tw_hang_s}
                         SKIP_RETURN_CODE 77 RUN_SERIAL ON ENVIRONMENT "${tw_test_environment}")
  endforeach()
  if(TEST gpu.dist_nccl)  # NCCL must make no multicast objects
    set_property(TEST gpu.dist_nccl APPEND PROPERTY ENVIRONMENT NCCL_NVLS_ENABLE=0)
  endif()
  if(TARGET gpu_c_library)
    target_link_libraries(gpu_c_library PRIVATE tilewright_c)
  endif()
  # Two headers of arch/cuda that stand for tcgen05 on a Hopper GPU. More threads share the
  # registers there than on Blackwell, so ptxas may spill.
  target_include_directories(gpu_umma_by_wgmma BEFORE PRIVATE
                             ${PROJECT_SOURCE_DIR}/tests/gpu/by_wgmma)
  set_target_properties(gpu_umma_by_wgmma PROPERTIES
                        CUDA_COMPILER_LAUNCHER "$<$<BOOL:${TW_CCACHE}>:${TW_CCACHE}>")
endif()
