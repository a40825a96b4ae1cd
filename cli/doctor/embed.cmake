# Makes C source of the manifests that doctor compares a cluster with. Run as
#   cmake -DROOT=... -DOUT=... "-DFILES=a;b" -P embed.cmake
# Hex bytes, not string literals: no escaping to get wrong.
set(source "/* Made by embed.cmake. */\n#include \"cli/doctor/deployed.h\"\n\n")
set(table "")
set(number 0)
foreach(path IN LISTS FILES)
  file(READ "${ROOT}/${path}" hex HEX)
  string(REGEX REPLACE "(..)" "0x\\1," bytes "${hex}")
  set(source "${source}static const char FILE_${number}[] = {\n${bytes}0};\n")
  set(table "${table}\t{\"${path}\", FILE_${number}},\n")
  math(EXPR number "${number} + 1")
endforeach()
set(source "${source}const struct deployed DEPLOYED[] = {\n${table}};\nconst size_t DEPLOYED_COUNT = ${number};\n")
file(WRITE "${OUT}" "${source}")
