# The few things C does not bring.
foreach(name instant json_writer siphash span)
  add_executable(test_base_${name} ${CMAKE_CURRENT_LIST_DIR}/${name}_test.c)
  target_link_libraries(test_base_${name} PRIVATE base ${CMOCKA})
  add_test(NAME base_${name} COMMAND test_base_${name})
endforeach()
