# The agent on each node: on a tree of plain files that refuses what a kernel refuses, and with a leader that does as it
# is told.
add_library(fake_tree STATIC ${CMAKE_CURRENT_LIST_DIR}/fake_tree.c)
target_link_libraries(fake_tree PUBLIC agent ${CMOCKA})
target_include_directories(fake_tree PUBLIC ${CMAKE_CURRENT_LIST_DIR})
target_link_options(fake_tree PUBLIC -Wl,--wrap=pwrite)
foreach(name keeper meter tree)
  add_executable(test_agent_${name} ${CMAKE_CURRENT_LIST_DIR}/${name}_test.c)
  target_link_libraries(test_agent_${name} PRIVATE fake_tree)
  add_test(NAME agent_${name} COMMAND test_agent_${name})
endforeach()
# Time is the test's.
target_link_options(test_agent_keeper PRIVATE -Wl,--wrap=monotonic_us)
# The link, orders on disk and the command line.
foreach(name link program)
  add_executable(test_agent_${name} ${CMAKE_CURRENT_LIST_DIR}/${name}_test.c)
  target_link_libraries(test_agent_${name} PRIVATE agent scripted_server ${CMOCKA})
  add_test(NAME agent_${name} COMMAND test_agent_${name})
endforeach()
# The link and a leader's port, both as they are.
add_executable(test_agent_leader ${CMAKE_CURRENT_LIST_DIR}/leader_test.c)
target_link_libraries(test_agent_leader PRIVATE agent nodes scripted_server ${CMOCKA})
add_test(NAME agent_leader COMMAND test_agent_leader)
