# How much of a node may be lent, tested with nothing but itself.
foreach(name tier strategy estimate koordinator mean window forecast publication reclaim property)
  add_executable(test_overcommit_${name} ${CMAKE_CURRENT_LIST_DIR}/${name}_test.c)
  target_link_libraries(test_overcommit_${name} PRIVATE overcommit ${CMOCKA})
  add_test(NAME overcommit_${name} COMMAND test_overcommit_${name})
endforeach()

# The controller's part, with an API server that does as it is told (../kube/tests.cmake).
add_library(overcommit_controller_stage STATIC ${CMAKE_CURRENT_LIST_DIR}/overcommit_controller_stage.c)
target_link_libraries(overcommit_controller_stage PUBLIC controller_parts scripted_server golden ${CMOCKA})
foreach(name ended_pods inventory node_orders overcommit_agents overcommit_controller reclaimer usage_poller)
  add_executable(test_controller_${name} ${CMAKE_CURRENT_LIST_DIR}/${name}_test.c)
  target_link_libraries(test_controller_${name} PRIVATE overcommit_controller_stage)
  add_test(NAME controller_${name} COMMAND test_controller_${name})
  set_tests_properties(controller_${name} PROPERTIES TIMEOUT 900)
endforeach()
# What the queue and the gate say of a Job is the test's.
target_link_options(test_controller_ended_pods PRIVATE -Wl,--wrap=queue_job_namespace -Wl,--wrap=queue_reclaim_job -Wl,--wrap=gate_job_ignores_disruption)
target_link_options(test_controller_node_orders PRIVATE -Wl,--wrap=queue_job_namespace -Wl,--wrap=queue_job_borrows -Wl,--wrap=queue_job_ends_when_stopped)
target_link_options(test_controller_reclaimer PRIVATE -Wl,--wrap=queue_job_namespace -Wl,--wrap=queue_reclaim_job
  -Wl,--wrap=queue_job_keeps -Wl,--wrap=queue_job_borrows -Wl,--wrap=queue_job_ends_when_stopped -Wl,--wrap=gate_job_ignores_disruption)
