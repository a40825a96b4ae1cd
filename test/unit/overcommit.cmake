# How much of a node may be lent, tested with nothing but itself.
foreach(name tier strategy estimate koordinator window forecast publication reclaim property)
  add_executable(test_overcommit_${name} ${CMAKE_CURRENT_LIST_DIR}/overcommit_${name}.c)
  target_link_libraries(test_overcommit_${name} PRIVATE overcommit ${CMOCKA})
  add_test(NAME overcommit_${name} COMMAND test_overcommit_${name})
endforeach()
