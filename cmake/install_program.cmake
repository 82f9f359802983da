# SPDX-License-Identifier: Apache-2.0
# Installs the program, its manual pages and its completions, as component `program`. Target `cubby_pages` builds all of them.
if(CMAKE_CROSSCOMPILING)
  install(TARGETS cubby_program RUNTIME COMPONENT program)
  return()
endif()

set(pages ${PROJECT_BINARY_DIR}/pages)
string(TIMESTAMP cubby_date "%Y-%m-%d" UTC) # of SOURCE_DATE_EPOCH, where that is set
add_custom_command(
  OUTPUT ${pages}/cubby.1
  COMMAND ${CMAKE_COMMAND} -E make_directory ${pages}
  COMMAND cubby_program manual ${pages} --date ${cubby_date}
  COMMAND cubby_program completion bash > ${pages}/cubby
  COMMAND cubby_program completion zsh > ${pages}/_cubby
  COMMAND cubby_program completion fish > ${pages}/cubby.fish
  DEPENDS cubby_program
  COMMENT "Writing manual pages and completions"
  VERBATIM)
add_custom_target(cubby_pages ALL DEPENDS ${pages}/cubby.1)

# Where each shell looks for what packages bring.
set(CUBBY_BASH_COMPLETIONS ${CMAKE_INSTALL_DATADIR}/bash-completion/completions CACHE STRING "Folder of bash's completions")
set(CUBBY_ZSH_COMPLETIONS ${CMAKE_INSTALL_DATADIR}/zsh/site-functions CACHE STRING "Folder of zsh's completions")
set(CUBBY_FISH_COMPLETIONS ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d CACHE STRING "Folder of fish's completions")
mark_as_advanced(CUBBY_BASH_COMPLETIONS CUBBY_ZSH_COMPLETIONS CUBBY_FISH_COMPLETIONS)
install(TARGETS cubby_program RUNTIME COMPONENT program)
install(DIRECTORY ${pages}/ DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 COMPONENT program FILES_MATCHING PATTERN "*.1")
install(FILES ${pages}/cubby DESTINATION ${CUBBY_BASH_COMPLETIONS} COMPONENT program)
install(FILES ${pages}/_cubby DESTINATION ${CUBBY_ZSH_COMPLETIONS} COMPONENT program)
install(FILES ${pages}/cubby.fish DESTINATION ${CUBBY_FISH_COMPLETIONS} COMPONENT program)
