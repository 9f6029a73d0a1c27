# SPDX-License-Identifier: Apache-2.0
# The command tilewright. Its rooms (gen/rooms.py) are libraries, which tests link too; a verb is a
# folder of tools/command/ and a target, tilewright_VERB_verb. main.cpp gathers the verbs.
# With GPU code *.cu, without it *.nocuda.cpp.
set(tw_gpu_tools OFF)
if(TW_WITH_CUDA AND NOT TW_DEVICE_KERNELS STREQUAL "smoke")
  set(tw_gpu_tools ON)
endif()
set(tw_tools ${PROJECT_SOURCE_DIR}/tools)

# Probes of tcgen05, which no other architecture assembles.
set(tw_probes ${tw_tools}/check/selftest/probes_gpu.cu)

# A library of all sources in these folders. Files are compiled in batches: CLI11 and JSON take 2 to
# 8 s to compile where they are included. Names of unnamed namespaces are therefore unique in a
# library.
function(tw_tool_library target)
  set(sources "")
  foreach(folder ${ARGN})
    file(GLOB found CONFIGURE_DEPENDS ${folder}/*.cpp)
    list(APPEND sources ${found})
    if(tw_gpu_tools)
      file(GLOB found CONFIGURE_DEPENDS ${folder}/*.cu)
      list(APPEND sources ${found})
    endif()
  endforeach()
  # The batches are the same with device code and without.
  set(without_device ${sources})
  list(FILTER without_device INCLUDE REGEX "\\.nocuda\\.cpp$")
  if(tw_gpu_tools)
    list(REMOVE_ITEM sources ${without_device} ${tw_probes})
  elseif(without_device)
    set_source_files_properties(${without_device} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
  endif()
  add_library(${target} STATIC ${sources})
  set_target_properties(${target} PROPERTIES UNITY_BUILD ${TW_UNITY} UNITY_BUILD_BATCH_SIZE 36)
  # Text and JSON: -O2 would take a third longer to compile without a measurable gain.
  target_compile_options(${target} PRIVATE ${tw_quick_to_compile})
  target_include_directories(${target} PUBLIC ${PROJECT_SOURCE_DIR}
                                       PRIVATE ${PROJECT_SOURCE_DIR}/src ${tw_generated})
  target_link_libraries(${target} PUBLIC tilewright_reports tilewright tilewright_emulator_hooks
                                         fmt::fmt spdlog::spdlog CLI11::CLI11
                                         nlohmann_json::nlohmann_json ${CMAKE_DL_LIBS})
endfunction()

# Code of several verbs.
tw_tool_library(tilewright_command_parts ${tw_tools}/io ${tw_tools}/trace ${tw_tools}/operand
                ${tw_tools}/request ${tw_tools}/check ${tw_tools}/command)

# The emulator sees the plain loads and stores of these kernels (src/emu/hook.cpp).
file(GLOB tw_seen CONFIGURE_DEPENDS ${tw_tools}/check/mutants/*_mutants.cpp
                                    ${tw_tools}/check/rungs/*_rungs.cpp)
tw_accesses_seen(${tw_seen})

tw_tool_library(tilewright_checks ${tw_tools}/check/hazards ${tw_tools}/check/mutants
                ${tw_tools}/check/race ${tw_tools}/check/rungs
                ${tw_tools}/check/selftest)
target_link_libraries(tilewright_checks PUBLIC tilewright_command_parts)
if(tw_gpu_tools)
  add_library(tilewright_probes OBJECT ${tw_probes})
  target_include_directories(tilewright_probes PRIVATE ${PROJECT_SOURCE_DIR}
                                                       ${PROJECT_SOURCE_DIR}/include)
  set_target_properties(tilewright_probes PROPERTIES CUDA_ARCHITECTURES OFF
                                                     POSITION_INDEPENDENT_CODE ON)
  target_compile_options(tilewright_probes PRIVATE
                         "--generate-code=arch=compute_100f,code=sm_100f")
  target_sources(tilewright_checks PRIVATE $<TARGET_OBJECTS:tilewright_probes>)
endif()

tw_tool_library(tilewright_measure ${tw_tools}/measure ${tw_tools}/measure/gpu)
target_link_libraries(tilewright_measure PUBLIC tilewright_command_parts)

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

# The verbs. map_of is a function of family/operand_maps.hpp in this file, and another name of
# tensor/view.hpp.
set_source_files_properties(${tw_tools}/command/bench/host_bench.cpp PROPERTIES
                            SKIP_UNITY_BUILD_INCLUSION ON)
file(GLOB tw_verb_folders CONFIGURE_DEPENDS LIST_DIRECTORIES true ${tw_tools}/command/*)
set(tw_verb_libraries "")
foreach(folder ${tw_verb_folders})
  if(NOT IS_DIRECTORY ${folder})
    continue()
  endif()
  get_filename_component(verb ${folder} NAME)
  tw_tool_library(tilewright_${verb}_verb ${folder})
  target_link_libraries(tilewright_${verb}_verb PUBLIC tilewright_command_parts)
  list(APPEND tw_verb_libraries tilewright_${verb}_verb)
endforeach()
foreach(verb bench check ladder playground selftest)
  target_link_libraries(tilewright_${verb}_verb PUBLIC tilewright_checks)
endforeach()
foreach(verb bench ladder stages tune)
  target_link_libraries(tilewright_${verb}_verb PUBLIC tilewright_measure)
endforeach()
target_sources(tilewright_occupancy_verb PRIVATE ${tw_embedded_registers})
target_sources(tilewright_roofline_verb PRIVATE ${tw_embedded_ceilings})

add_library(tilewright_tools INTERFACE)
target_link_libraries(tilewright_tools INTERFACE ${tw_verb_libraries})

add_executable(tilewright_command ${tw_tools}/main.cpp)
set_target_properties(tilewright_command PROPERTIES OUTPUT_NAME tilewright)
target_link_libraries(tilewright_command PRIVATE tilewright_tools)
# The verbs of demo/main.cpp alone: ./dev demo compiles no others.
add_executable(tilewright_demo ${PROJECT_SOURCE_DIR}/demo/main.cpp)
target_link_libraries(tilewright_demo PRIVATE tilewright_gemm_verb tilewright_info_verb
                                              tilewright_layout_verb)
foreach(target tilewright_command tilewright_demo)
  target_compile_options(${target} PRIVATE ${tw_quick_to_compile})
endforeach()

# For gen/fit_model.py, which fits the performance models; built on demand.
add_executable(model_evaluator EXCLUDE_FROM_ALL ${PROJECT_SOURCE_DIR}/gen/model_evaluator.cpp)
target_include_directories(model_evaluator PRIVATE ${PROJECT_SOURCE_DIR}/src)
target_link_libraries(model_evaluator PRIVATE tilewright fmt::fmt)

# Exercises of the tutorial (ladder/exercises); built on demand.
add_executable(ladder_exercises EXCLUDE_FROM_ALL
               ${PROJECT_SOURCE_DIR}/ladder/exercises/main.cpp)
target_include_directories(ladder_exercises PRIVATE ${PROJECT_SOURCE_DIR})
target_link_libraries(ladder_exercises PRIVATE tilewright_layout)
