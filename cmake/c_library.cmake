# SPDX-License-Identifier: Apache-2.0
# tilewright_c, the C library (include/tilewright.h): libtilewright.so.0, which exports tw_* alone
# and has everything inside: the archives of this build, the CUDA runtime, fmt, spdlog,
# boost_context, sqlite and libbacktrace. It needs libstdc++, libm, libgcc_s and libc.
#
# Its link name is libtilewright_c.so (-ltilewright_c, tilewright::c): libtilewright.so is that of
# the C++ library where BUILD_SHARED_LIBS is set, whose soname is another one.
set(TW_WITH_C_LIBRARY ${TW_C_LIBRARY})
if(TW_C_LIBRARY)
  find_library(tw_archive_of_sqlite NAMES libsqlite3.a)
  find_library(tw_archive_of_context NAMES libboost_context.a)
  mark_as_advanced(tw_archive_of_sqlite tw_archive_of_context)
  set(tw_why_no_c_library "")
  if(BUILD_SHARED_LIBS)
    set(tw_why_no_c_library "the C library holds archives: configure with -DBUILD_SHARED_LIBS=OFF")
  elseif(NOT tw_archive_of_sqlite OR NOT tw_archive_of_context)
    set(tw_why_no_c_library "the C library needs libsqlite3.a and libboost_context.a: not found")
  elseif(TW_C_LIBRARY STREQUAL "AUTO" AND NOT PROJECT_IS_TOP_LEVEL)
    set(tw_why_no_c_library "a part of another project")
  endif()
  set(TW_WITH_C_LIBRARY ON)
  if(tw_why_no_c_library)
    if(NOT TW_C_LIBRARY STREQUAL "AUTO")
      message(FATAL_ERROR "TW_C_LIBRARY=ON: ${tw_why_no_c_library}")
    endif()
    set(TW_WITH_C_LIBRARY OFF)
  endif()
endif()
if(TW_TOOLS OR TW_WITH_C_LIBRARY)
  include(cmake/reports.cmake)
endif()
if(NOT TW_WITH_C_LIBRARY)
  return()
endif()

file(GLOB_RECURSE tw_c_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/capi/*.cpp)
set(tw_c_symbols ${PROJECT_SOURCE_DIR}/capi/tilewright.map)
add_library(tilewright_c SHARED ${tw_c_sources})
add_library(tilewright::c ALIAS tilewright_c)
set_target_properties(tilewright_c PROPERTIES
  OUTPUT_NAME tilewright SOVERSION 0 EXPORT_NAME c LINK_DEPENDS ${tw_c_symbols}
  LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/c
  CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON)
target_include_directories(tilewright_c
  PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>
         $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>
  PRIVATE ${PROJECT_SOURCE_DIR} ${PROJECT_SOURCE_DIR}/src)
# Headers of the packages alone: their shared libraries are not linked.
foreach(package fmt::fmt spdlog::spdlog nlohmann_json::nlohmann_json)
  target_include_directories(tilewright_c SYSTEM PRIVATE
    $<TARGET_PROPERTY:${package},INTERFACE_INCLUDE_DIRECTORIES>)
  target_compile_definitions(tilewright_c PRIVATE
    $<TARGET_PROPERTY:${package},INTERFACE_COMPILE_DEFINITIONS>)
endforeach()
set(tw_c_archives tilewright_reports tilewright tilewright_emulator)
add_dependencies(tilewright_c ${tw_c_archives})
set(tw_c_files "")
foreach(archive IN LISTS tw_c_archives)
  list(APPEND tw_c_files $<TARGET_FILE:${archive}>)
endforeach()
set_property(TARGET tilewright_c APPEND PROPERTY LINK_DEPENDS ${tw_c_files})
if(TW_BACKTRACE_INCLUDE)
  list(APPEND tw_c_files backtrace)
endif()
set(tw_c_cuda "")
if(TW_WITH_CUDA)
  set(tw_c_cuda CUDA::cudart_static)
endif()
target_link_libraries(tilewright_c PRIVATE -Wl,--start-group ${tw_c_files} -Wl,--end-group
  ${tw_c_cuda} ${tw_archive_of_context} ${tw_archive_of_sqlite} Threads::Threads ${CMAKE_DL_LIBS})
target_link_options(tilewright_c PRIVATE
  -Wl,--version-script=${tw_c_symbols} -Wl,--exclude-libs,ALL -Wl,--gc-sections -Wl,-Bsymbolic)
foreach(guard acquire release abort)  # capi/guards.cpp
  target_link_options(tilewright_c PRIVATE -Wl,--wrap=__cxa_guard_${guard})
endforeach()
if(NOT TW_SANITIZE)  # the program has the sanitizer's symbols
  target_link_options(tilewright_c PRIVATE -Wl,-z,defs)
endif()
