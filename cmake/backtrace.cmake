# SPDX-License-Identifier: Apache-2.0
# TW_BACKTRACE_INCLUDE: the folder of libbacktrace's header, empty where the library is not found.
#
# The library comes with Debian's and Ubuntu's g++, in folders of g++'s own; elsewhere it may be a
# package. Without it reports of the emulator have no lines for ordinary loads and stores.
option(TW_BACKTRACE "Source lines of ordinary accesses by libbacktrace, where it is found" ON)
set(TW_BACKTRACE_INCLUDE "")
if(TW_BACKTRACE)
  set(tw_backtrace_hints "")
  foreach(compiler IN ITEMS ${CMAKE_CXX_COMPILER} g++)
    execute_process(COMMAND ${compiler} -print-file-name=include/backtrace.h
                    OUTPUT_VARIABLE tw_header OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
    get_filename_component(tw_folder "${tw_header}" DIRECTORY)
    list(APPEND tw_backtrace_hints ${tw_folder})
  endforeach()
  find_path(tw_backtrace_header backtrace.h HINTS ${tw_backtrace_hints})
  mark_as_advanced(tw_backtrace_header)
  if(tw_backtrace_header)
    # A copy: the folder of g++ has headers that another compiler must not see.
    set(tw_backtrace_copy ${PROJECT_BINARY_DIR}/generated/backtrace)
    configure_file(${tw_backtrace_header}/backtrace.h ${tw_backtrace_copy}/backtrace.h COPYONLY)
    include(CheckCXXSourceCompiles)
    set(CMAKE_REQUIRED_INCLUDES ${tw_backtrace_copy})
    set(CMAKE_REQUIRED_LIBRARIES backtrace)
    check_cxx_source_compiles("#include <backtrace.h>
      int main() { return backtrace_create_state(nullptr, 1, nullptr, nullptr) == nullptr; }"
      TW_BACKTRACE_LINKS)
    unset(CMAKE_REQUIRED_INCLUDES)
    unset(CMAKE_REQUIRED_LIBRARIES)
    if(TW_BACKTRACE_LINKS)
      set(TW_BACKTRACE_INCLUDE ${tw_backtrace_copy})
    endif()
  endif()
  if(NOT TW_BACKTRACE_INCLUDE)
    message(STATUS "libbacktrace not found: the emulator reports ordinary accesses without lines")
  endif()
endif()
