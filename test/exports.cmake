# A program of ours exports no function and no data of its own: a library would call ours in place of its own
# of the same name (CMakeLists.txt, -fvisibility=hidden).
#
#   cmake -DPROGRAM=... -P exports.cmake

execute_process(COMMAND nm -D --defined-only ${PROGRAM} OUTPUT_VARIABLE names RESULT_VARIABLE rc)
if(NOT rc EQUAL 0)
  message(FATAL_ERROR "nm of ${PROGRAM} failed: ${rc}")
endif()
# What has a version is a copy of a library's own; what begins with __ is the sanitizers'.
string(REGEX MATCHALL "[0-9a-f]+ [A-Z] [^_@\n][^@\n]*\n" ours "${names}")
if(ours)
  message(FATAL_ERROR "${PROGRAM} exports:\n${ours}")
endif()
