# SPDX-License-Identifier: Apache-2.0
# tw_accesses_seen(FILE...): sources of this project's own kernels whose ordinary loads and stores
# the emulator sees (src/emu/hook.cpp). g++ refuses two kinds of instrumentation in one file: the
# address sanitizer leaves these out. tw_seen_options are the options of such a source, which
# includes <cstring> before all others.
# As in tilewright_see_accesses (add_kernel.cmake).
set(tw_as_plugins --param=tsan-instrument-func-entry-exit=0 -fno-optimize-sibling-calls
                  -fno-builtin-memcpy -fno-builtin-memmove -fno-builtin-memset
                  -D__builtin_memcpy=::memcpy -D__builtin_memmove=::memmove
                  -D__builtin_memset=::memset
                  -D_GLIBCXX_EXTERN_TEMPLATE=0)
set(tw_seen_options $<$<CONFIG:Release>:-O2> -g1 -fno-sanitize=address -fsanitize=thread
                    ${tw_as_plugins})
function(tw_accesses_seen)
  set_source_files_properties(${ARGN} PROPERTIES COMPILE_OPTIONS
                              "${tw_seen_options};-include;cstring")
endfunction()
