# What people hand to `sluice simulate`. See kube.cmake for how the fuzzers proper are built.
foreach(name manifest trace)
  add_executable(fuzz_${name} ${CMAKE_CURRENT_LIST_DIR}/fuzz_${name}.c)
  target_link_libraries(fuzz_${name} PRIVATE simulate)
  if(SLUICE_FUZZ)
    target_compile_options(fuzz_${name} PRIVATE -fsanitize=fuzzer)
    target_link_options(fuzz_${name} PRIVATE -fsanitize=fuzzer)
  else()
    target_sources(fuzz_${name} PRIVATE ${CMAKE_CURRENT_LIST_DIR}/main.c)
    add_test(NAME fuzz_${name}
      COMMAND fuzz_${name} ${CMAKE_CURRENT_LIST_DIR}/corpus/${name})
  endif()
endforeach()
