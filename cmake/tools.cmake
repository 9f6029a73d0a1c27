# SPDX-License-Identifier: Apache-2.0
# The command tilewright: its verbs (tools/, bench/) as two libraries that tests link too, and
# main.cpp.
# With GPU code *.cu, without it *.nocuda.cpp.
file(GLOB_RECURSE tw_tool_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tools/*.cpp
                                                    ${PROJECT_SOURCE_DIR}/bench/*.cpp)
list(REMOVE_ITEM tw_tool_sources ${PROJECT_SOURCE_DIR}/tools/main.cpp ${tw_report_sources})
if(TW_WITH_CUDA AND NOT TW_DEVICE_KERNELS STREQUAL "smoke")
  file(GLOB_RECURSE tw_tool_cuda_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tools/*.cu
                                                           ${PROJECT_SOURCE_DIR}/bench/*.cu)
  list(FILTER tw_tool_sources EXCLUDE REGEX "\\.nocuda\\.cpp$")
  # Probes of tcgen05, which no other architecture assembles.
  set(tw_probes ${PROJECT_SOURCE_DIR}/tools/selftest/probes_gpu.cu)
  list(REMOVE_ITEM tw_tool_cuda_sources ${tw_probes})
  add_library(tilewright_probes OBJECT ${tw_probes})
  target_include_directories(tilewright_probes PRIVATE ${PROJECT_SOURCE_DIR}
                                                       ${PROJECT_SOURCE_DIR}/include)
  set_target_properties(tilewright_probes PROPERTIES CUDA_ARCHITECTURES OFF
                                                     POSITION_INDEPENDENT_CODE ON)
  target_compile_options(tilewright_probes PRIVATE
                         "--generate-code=arch=compute_100f,code=sm_100f")
  list(APPEND tw_tool_sources ${tw_tool_cuda_sources} $<TARGET_OBJECTS:tilewright_probes>)
endif()

# Registers of our kernels, for `tilewright occupancy`.
set(tw_golden ${PROJECT_SOURCE_DIR}/tests/golden/ptxas.json)
set(tw_embedded_registers ${PROJECT_BINARY_DIR}/embedded/kernel_registers.cpp)
add_custom_command(OUTPUT ${tw_embedded_registers}
  COMMAND ${CMAKE_COMMAND} -E make_directory ${PROJECT_BINARY_DIR}/embedded
  COMMAND ${Python3_EXECUTABLE} -B ${PROJECT_SOURCE_DIR}/gen/registers.py
          --golden ${tw_golden} --out ${tw_embedded_registers}
  DEPENDS ${PROJECT_SOURCE_DIR}/gen/registers.py ${PROJECT_SOURCE_DIR}/gen/instances.py
          ${tw_golden} ${tw_instance_lists}
  COMMENT "Embedding the registers of kernels" VERBATIM)

# Peak rates, for `tilewright roofline`.
file(GLOB tw_ceilings CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/data/ceilings/*.json)
set(tw_embedded_ceilings ${PROJECT_BINARY_DIR}/embedded/ceiling_table.cpp)
add_custom_command(OUTPUT ${tw_embedded_ceilings}
  COMMAND ${CMAKE_COMMAND} -E make_directory ${PROJECT_BINARY_DIR}/embedded
  COMMAND ${Python3_EXECUTABLE} -B ${PROJECT_SOURCE_DIR}/gen/ceilings.py embed
          --folder ${PROJECT_SOURCE_DIR}/data/ceilings --out ${tw_embedded_ceilings}
  DEPENDS ${PROJECT_SOURCE_DIR}/gen/ceilings.py ${tw_ceilings}
  COMMENT "Embedding the peak rates of devices" VERBATIM)

# The plain loads and stores of these kernels are seen by the emulator (src/emu/hook.cpp).
file(GLOB tw_seen CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tools/mutants/*_mutants.cpp
                                      ${PROJECT_SOURCE_DIR}/tools/ladder/*_rungs.cpp)
tw_accesses_seen(${tw_seen})

# The verbs that the demo runs, and info, are a library alone: ./dev demo compiles no others. It is
# linked without these folders of tools/, and without files that begin with these words.
set(tw_of_other_verbs hazards/ ladder/ mutants/ profile/ selftest/ stages/
    problem_request banks_ check_command explain_ kernel_explanation ladder_ man_page mutants
    occupancy_ plan_command profile_ quantize_command roofline selftest_ stages_ tmem_access)
list(JOIN tw_of_other_verbs "|" tw_of_other_verbs)
set(tw_gemm_tool_sources ${tw_tool_sources})
list(FILTER tw_gemm_tool_sources EXCLUDE REGEX
     "TARGET_OBJECTS|^${PROJECT_SOURCE_DIR}/(bench/|tools/(${tw_of_other_verbs}))")
list(REMOVE_ITEM tw_tool_sources ${tw_gemm_tool_sources})
add_library(tilewright_gemm_tools STATIC ${tw_gemm_tool_sources})
add_library(tilewright_tools STATIC ${tw_tool_sources} ${tw_embedded_registers}
                                    ${tw_embedded_ceilings})
# The batches are the same with device code and without.
set(tw_without_device ${tw_tool_sources} ${tw_gemm_tool_sources})
list(FILTER tw_without_device INCLUDE REGEX "\\.nocuda\\.cpp$")
# map_of is a function of family/operand_maps.hpp there, and another name of tensor/view.hpp.
set_source_files_properties(${tw_without_device} ${PROJECT_SOURCE_DIR}/bench/host_bench.cpp
                            PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
foreach(target tilewright_gemm_tools tilewright_tools)
  # CLI11 and JSON take 2 to 8 s to compile where they are included: files are compiled in batches.
  # Names of unnamed namespaces are therefore unique among these folders.
  set_target_properties(${target} PROPERTIES UNITY_BUILD ${TW_UNITY} UNITY_BUILD_BATCH_SIZE 36)
  # Text and JSON: -O2 would take a third longer to compile without a measurable gain.
  target_compile_options(${target} PRIVATE ${tw_quick_to_compile})
  target_include_directories(${target} PUBLIC ${PROJECT_SOURCE_DIR} ${PROJECT_SOURCE_DIR}/tools
                                       PRIVATE ${PROJECT_SOURCE_DIR}/src)
  target_link_libraries(${target} PUBLIC tilewright_reports tilewright
                                         tilewright_emulator_hooks fmt::fmt
                                         spdlog::spdlog CLI11::CLI11 nlohmann_json::nlohmann_json
                                         ${CMAKE_DL_LIBS})
endforeach()
target_link_libraries(tilewright_tools PUBLIC tilewright_gemm_tools)

# tilewright_demo has the verbs of demo/main.cpp alone.
add_executable(tilewright_command ${PROJECT_SOURCE_DIR}/tools/main.cpp)
set_target_properties(tilewright_command PROPERTIES OUTPUT_NAME tilewright)
target_link_libraries(tilewright_command PRIVATE tilewright_tools)
add_executable(tilewright_demo ${PROJECT_SOURCE_DIR}/demo/main.cpp)
target_link_libraries(tilewright_demo PRIVATE tilewright_gemm_tools)
foreach(target tilewright_command tilewright_demo)
  target_compile_options(${target} PRIVATE ${tw_quick_to_compile})
endforeach()

# For gen/fit_model.py, which fits the performance models; built on demand.
add_executable(model_evaluator EXCLUDE_FROM_ALL ${PROJECT_SOURCE_DIR}/gen/model_evaluator.cpp)
target_include_directories(model_evaluator PRIVATE ${PROJECT_SOURCE_DIR}/src)
target_link_libraries(model_evaluator PRIVATE tilewright fmt::fmt)

# Exercises of the tutorial (examples/ladder/exercises); built on demand.
add_executable(ladder_exercises EXCLUDE_FROM_ALL
               ${PROJECT_SOURCE_DIR}/examples/ladder/exercises/main.cpp)
target_include_directories(ladder_exercises PRIVATE ${PROJECT_SOURCE_DIR})
target_link_libraries(ladder_exercises PRIVATE tilewright_layout)
