# SPDX-License-Identifier: Apache-2.0
# Manual pages and shell completions, printed by the command itself.
include(GNUInstallDirs)

set(tw_verbs gemm layout banks check bench info explain plan tune occupancy roofline
             profile stages quantize prepare ladder playground)
set(tw_pages ${PROJECT_BINARY_DIR}/pages)
set(tw_page_files)
# tw_printed(FILE WORDS...): FILE is what `tilewright WORDS...` prints.
function(tw_printed file)
  add_custom_command(OUTPUT ${file}
                     COMMAND ${CMAKE_COMMAND} -E env TILEWRIGHT_TUNE=off
                             $<TARGET_FILE:tilewright_command> ${ARGN} > ${file}
                     DEPENDS tilewright_command VERBATIM)
  set(tw_page_files ${tw_page_files} ${file} PARENT_SCOPE)
endfunction()

file(MAKE_DIRECTORY ${tw_pages})
tw_printed(${tw_pages}/tilewright.1 man)
foreach(verb ${tw_verbs})
  tw_printed(${tw_pages}/tilewright-${verb}.1 man ${verb})
endforeach()
set(tw_man_pages ${tw_page_files})
tw_printed(${tw_pages}/tilewright completion bash)
tw_printed(${tw_pages}/_tilewright completion zsh)
tw_printed(${tw_pages}/tilewright.fish completion fish)
add_custom_target(tilewright_pages ALL DEPENDS ${tw_page_files})

install(FILES ${tw_man_pages} DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 COMPONENT command)
install(FILES ${tw_pages}/tilewright
        DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions COMPONENT command)
install(FILES ${tw_pages}/_tilewright DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions
        COMPONENT command)
install(FILES ${tw_pages}/tilewright.fish
        DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d COMPONENT command)
