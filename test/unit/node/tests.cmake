# What is decided on a node, tested with nothing but itself. Where histories are drawn, a seed plays one alone:
# test_node_steps 17.
foreach(name limits share_out squeeze steps suppress wire)
  add_executable(test_node_${name} ${CMAKE_CURRENT_LIST_DIR}/${name}_test.c)
  target_link_libraries(test_node_${name} PRIVATE node ${CMOCKA})
  add_test(NAME node_${name} COMMAND test_node_${name})
endforeach()
