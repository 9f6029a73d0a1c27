# SPDX-License-Identifier: Apache-2.0
# tilewright_reports: answers as text, JSON and pictures, and the pages of docs/errors, for the
# command (tools.cmake) and the C library (c_library.cmake).
file(GLOB tw_report_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tools/report/*.cpp
                                              ${PROJECT_SOURCE_DIR}/tools/picture/*.cpp)

file(GLOB tw_error_pages CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/docs/errors/*.md)
set(tw_embedded_pages ${PROJECT_BINARY_DIR}/generated/error_pages.cpp)
add_custom_command(
  OUTPUT ${tw_embedded_pages}
  COMMAND ${Python3_EXECUTABLE} -B ${PROJECT_SOURCE_DIR}/gen/error_pages.py
          ${PROJECT_SOURCE_DIR}/docs/errors ${tw_embedded_pages}
  DEPENDS ${tw_error_pages} ${PROJECT_SOURCE_DIR}/gen/error_pages.py
  COMMENT "Embedding docs/errors" VERBATIM)

add_library(tilewright_reports STATIC ${tw_report_sources} ${tw_embedded_pages})
# Names of unnamed namespaces are unique among these files.
set_target_properties(tilewright_reports PROPERTIES UNITY_BUILD ${TW_UNITY}
                                                    UNITY_BUILD_BATCH_SIZE 36)
target_compile_options(tilewright_reports PRIVATE ${tw_quick_to_compile})
target_include_directories(tilewright_reports PUBLIC ${PROJECT_SOURCE_DIR}
                                              PRIVATE ${PROJECT_SOURCE_DIR}/src)
target_link_libraries(tilewright_reports PUBLIC tilewright
                                         PRIVATE fmt::fmt nlohmann_json::nlohmann_json)
