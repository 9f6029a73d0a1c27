# SPDX-License-Identifier: Apache-2.0
# tw_precompile(TARGET HEADER...): headers of others, compiled once for all C++ files of the
# target. None of ours: a file of ours names what it uses.
# Files with other flags are compiled without (SKIP_PRECOMPILE_HEADERS).
function(tw_precompile target)
  set(headers "")
  foreach(header IN LISTS ARGN)
    list(APPEND headers "$<$<COMPILE_LANGUAGE:CXX>:<${header}$<ANGLE-R>>")
  endforeach()
  target_precompile_headers(${target} PRIVATE ${headers})
  # ccache needs this one:
  target_compile_options(${target} PRIVATE $<$<COMPILE_LANG_AND_ID:CXX,GNU>:-fpch-preprocess>)
endfunction()
