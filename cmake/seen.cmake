# SPDX-License-Identifier: Apache-2.0
# tw_accesses_seen(FILE...): sources of this project's own kernels whose ordinary loads and stores
# the emulator sees (src/emu/hook.cpp). g++ refuses two kinds of instrumentation in one file: the
# address sanitizer leaves these out.
function(tw_accesses_seen)
  set_source_files_properties(${ARGN} PROPERTIES COMPILE_OPTIONS
    "$<$<CONFIG:Release>:-O2>;-g1;-fno-sanitize=address;-fsanitize=thread;${tw_no_entry_exit}")
endfunction()
set(tw_no_entry_exit --param=tsan-instrument-func-entry-exit=0)
