# embed_files(OUT ROOT HEADER STRUCT TABLE FILE...): OUT is C source with the files of the folder ROOT as a table,
# made anew when one of them changes; embed.cmake says of which form.
set(EMBED_SCRIPT ${CMAKE_CURRENT_LIST_DIR}/embed.cmake)
function(embed_files out root header struct table)
  list(TRANSFORM ARGN PREPEND ${root}/ OUTPUT_VARIABLE paths)
  add_custom_command(OUTPUT ${out}
    COMMAND ${CMAKE_COMMAND} -DROOT=${root} "-DFILES=${ARGN}" -DOUT=${out} -DHEADER=${header} -DSTRUCT=${struct} -DTABLE=${table}
      -P ${EMBED_SCRIPT}
    DEPENDS ${paths} ${EMBED_SCRIPT} VERBATIM)
endfunction()
