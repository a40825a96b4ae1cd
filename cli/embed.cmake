# Makes C source of files, as a table of { path, text }. Run as
#   cmake -DROOT=... "-DFILES=a;b" -DOUT=... -DHEADER=... -DSTRUCT=... -DTABLE=... -P embed.cmake
# where HEADER declares `const struct STRUCT TABLE[]` and `const size_t TABLE_COUNT`.
# Hex bytes, not string literals: no escaping to get wrong.
set(source "/* Made by embed.cmake. */\n#include \"${HEADER}\"\n\n")
set(rows "")
set(number 0)
foreach(path IN LISTS FILES)
  file(READ "${ROOT}/${path}" hex HEX)
  string(REGEX REPLACE "(..)" "0x\\1," bytes "${hex}")
  set(source "${source}static const char FILE_${number}[] = {\n${bytes}0};\n")
  set(rows "${rows}\t{\"${path}\", FILE_${number}},\n")
  math(EXPR number "${number} + 1")
endforeach()
set(source "${source}const struct ${STRUCT} ${TABLE}[] = {\n${rows}};\nconst size_t ${TABLE}_COUNT = ${number};\n")
file(WRITE "${OUT}" "${source}")
