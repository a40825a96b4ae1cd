# What `sluice completion` prints, as C source.
set(COMPLETION_SCRIPTS sluice.bash sluice.zsh sluice.fish)
list(TRANSFORM COMPLETION_SCRIPTS PREPEND ${CMAKE_CURRENT_SOURCE_DIR}/completion/ OUTPUT_VARIABLE COMPLETION_SCRIPT_PATHS)
add_custom_command(OUTPUT ${CMAKE_CURRENT_BINARY_DIR}/completion_scripts.c
  COMMAND ${CMAKE_COMMAND} -DROOT=${CMAKE_CURRENT_SOURCE_DIR}/completion -DOUT=${CMAKE_CURRENT_BINARY_DIR}/completion_scripts.c
    "-DFILES=${COMPLETION_SCRIPTS}" -DHEADER=cli/completion/scripts.h -DSTRUCT=completion_script -DTABLE=COMPLETION_SCRIPTS
    -P ${CMAKE_CURRENT_SOURCE_DIR}/embed.cmake
  DEPENDS ${COMPLETION_SCRIPT_PATHS} ${CMAKE_CURRENT_SOURCE_DIR}/embed.cmake VERBATIM)
