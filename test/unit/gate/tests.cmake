# The gate alone, against the simulation's models; what the queue says of windows and prices is the
# test's.
get_filename_component(GATE_SIM_DIR ${CMAKE_CURRENT_LIST_DIR}/../../sim ABSOLUTE)
add_library(gate_models STATIC ${GATE_SIM_DIR}/model_api.c ${GATE_SIM_DIR}/model_ledger.c ${GATE_SIM_DIR}/pool.c
  ${CMAKE_CURRENT_LIST_DIR}/../../../controller/ledger/ledger.c)
target_link_libraries(gate_models PUBLIC gate)
foreach(name run lending growth stuck rejection doubt failing deferred hostile mass_stop adoption newcomer ending cut_short never_starts start_time provision notice run_priority)
  add_executable(test_gate_${name} ${CMAKE_CURRENT_LIST_DIR}/${name}_test.c)
  target_link_libraries(test_gate_${name} PRIVATE gate_models ${CMOCKA})
  target_link_options(test_gate_${name} PRIVATE -Wl,--wrap=queue_decide)
  add_test(NAME gate_${name} COMMAND test_gate_${name})
endforeach()
foreach(name deferred doubt)
  target_link_libraries(test_gate_${name} PRIVATE queue_inside)
endforeach()
target_link_options(test_gate_never_starts PRIVATE -Wl,--wrap=queue_job_waits_in_vain)
target_link_options(test_gate_run PRIVATE -Wl,--wrap=queue_job_bill
  -Wl,--wrap=queue_job_cost -Wl,--wrap=queue_finished_job)
foreach(name label_set trouble)
  add_executable(test_gate_${name} ${CMAKE_CURRENT_LIST_DIR}/${name}_test.c)
  target_link_libraries(test_gate_${name} PRIVATE gate ${CMOCKA})
  add_test(NAME gate_${name} COMMAND test_gate_${name})
endforeach()
# The one that needs JSON, to read a story back.
add_executable(test_gate_story ${CMAKE_CURRENT_LIST_DIR}/story_test.c)
target_link_libraries(test_gate_story PRIVATE wire tzdata ${CMOCKA})
add_test(NAME gate_story COMMAND test_gate_story)
