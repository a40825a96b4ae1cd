# The command line.
add_executable(test_cli ${CMAKE_CURRENT_LIST_DIR}/cli_test.c)
target_link_libraries(test_cli PRIVATE sluice_cli ${CMOCKA})
add_test(NAME cli COMMAND test_cli)

# `sluice queue`: against a scripted API server.
add_executable(test_queue_command ${CMAKE_CURRENT_LIST_DIR}/queue_test.c)
target_link_libraries(test_queue_command PRIVATE scripted_server sluice_cli ${CMOCKA})
add_test(NAME queue_command COMMAND test_queue_command)

# `sluice cost`, and what `sluice report` and `sluice history` ask: the same.
add_executable(test_cost_command ${CMAKE_CURRENT_LIST_DIR}/cost_test.c)
target_link_libraries(test_cost_command PRIVATE scripted_server sluice_cli ${CMOCKA})
add_test(NAME cost_command COMMAND test_cost_command)
add_executable(test_past_commands ${CMAKE_CURRENT_LIST_DIR}/past_test.c)
target_link_libraries(test_past_commands PRIVATE sluice_cli ${CMOCKA})
add_test(NAME past_commands COMMAND test_past_commands)

# `sluice jobs`: against a scripted API server. And `sluice explain` of what that answers.
add_executable(test_jobs ${CMAKE_CURRENT_LIST_DIR}/jobs_test.c)
target_link_libraries(test_jobs PRIVATE scripted_server sluice_cli ${CMOCKA})
add_test(NAME jobs COMMAND test_jobs)
# `sluice top`: what is drawn, and what keys do.
add_executable(test_top ${CMAKE_CURRENT_LIST_DIR}/top_test.c)
target_link_libraries(test_top PRIVATE golden sluice_cli ${CMOCKA})
add_test(NAME top COMMAND test_top)
set_tests_properties(top PROPERTIES LABELS golden)
add_executable(test_explain ${CMAKE_CURRENT_LIST_DIR}/explain_test.c)
target_link_libraries(test_explain PRIVATE sluice_cli ${CMOCKA})
add_test(NAME explain COMMAND test_explain)
add_executable(test_help ${CMAKE_CURRENT_LIST_DIR}/help_test.c)
target_link_libraries(test_help PRIVATE sluice_cli ${CMOCKA})
add_test(NAME help COMMAND test_help)

# `sluice when`: the same.
add_executable(test_start ${CMAKE_CURRENT_LIST_DIR}/start_test.c)
target_link_libraries(test_start PRIVATE scripted_server sluice_cli ${CMOCKA})
add_test(NAME start COMMAND test_start)

# `sluice whatif`: paths and values, what is sent, and what is said of the answer.
add_executable(test_whatif_command ${CMAKE_CURRENT_LIST_DIR}/whatif_test.c)
target_link_libraries(test_whatif_command PRIVATE scripted_server sluice_cli ${CMOCKA})
add_test(NAME whatif_command COMMAND test_whatif_command)

# `sluice reserve`: times as people write them, the object that comes of a line, and what is said of its verdict.
add_executable(test_reserve ${CMAKE_CURRENT_LIST_DIR}/reserve_test.c)
target_link_libraries(test_reserve PRIVATE scripted_server sluice_cli ${CMOCKA})
add_test(NAME reserve COMMAND test_reserve)

add_executable(test_local_times ${CMAKE_CURRENT_LIST_DIR}/local_times_test.c)
target_link_libraries(test_local_times PRIVATE sluice_cli ${CMOCKA})
add_test(NAME local_times COMMAND test_local_times)

# `sluice completion`: what is offered, by the tables and of a scripted API server; and its scripts in their shells.
add_executable(test_completion ${CMAKE_CURRENT_LIST_DIR}/completion_test.c)
target_link_libraries(test_completion PRIVATE scripted_server sluice_cli ${CMOCKA})
add_test(NAME completion COMMAND test_completion)
foreach(shell bash zsh fish)
  add_test(NAME completion_in_${shell} COMMAND bash ${CMAKE_CURRENT_LIST_DIR}/completion_shells.bash $<TARGET_FILE:sluice> ${shell})
  set_tests_properties(completion_in_${shell} PROPERTIES SKIP_RETURN_CODE 77)
endforeach()

# `sluice move`, `sluice priority`: against a scripted API server.
add_executable(test_job_change ${CMAKE_CURRENT_LIST_DIR}/job_change_test.c)
target_link_libraries(test_job_change PRIVATE scripted_server sluice_cli ${CMOCKA})
add_test(NAME job_change COMMAND test_job_change)

# `sluice doctor`: against a scripted API server, and a Postgres of its own.
add_executable(test_doctor_api ${CMAKE_CURRENT_LIST_DIR}/doctor_api_test.c)
target_link_libraries(test_doctor_api PRIVATE scripted_server sluice_cli ${CMOCKA})
add_test(NAME doctor_api COMMAND test_doctor_api)
add_executable(test_doctor_ledger ${CMAKE_CURRENT_LIST_DIR}/doctor_ledger_test.c)
target_link_libraries(test_doctor_ledger PRIVATE scripted_server ledger_drive sluice_cli ${CMOCKA})
target_compile_definitions(test_doctor_ledger PRIVATE DOCTOR_PAGE="${CMAKE_SOURCE_DIR}/docs/trouble.md")
add_test(NAME doctor_ledger COMMAND test_doctor_ledger)
set_tests_properties(doctor_api doctor_ledger PROPERTIES TIMEOUT 900)

# `sluice import`: text that an administrator can read.
add_executable(test_import ${CMAKE_CURRENT_LIST_DIR}/import_test.c)
target_link_libraries(test_import PRIVATE sluice_cli)
file(GLOB imports CONFIGURE_DEPENDS ${CMAKE_CURRENT_LIST_DIR}/../../import/*.txt)
foreach(path ${imports})
  get_filename_component(name ${path} NAME_WE)
  add_test(NAME import_${name} COMMAND test_import ${path})
endforeach()
add_executable(test_import_cluster ${CMAKE_CURRENT_LIST_DIR}/import_cluster_test.c)
target_link_libraries(test_import_cluster PRIVATE scripted_server sluice_cli ${CMOCKA})
add_test(NAME import_cluster COMMAND test_import_cluster)

# `sluice adopt`: against a scripted API server.
add_executable(test_adopt ${CMAKE_CURRENT_LIST_DIR}/adopt_test.c)
target_link_libraries(test_adopt PRIVATE scripted_server sluice_cli ${CMOCKA})
add_test(NAME adopt COMMAND test_adopt)

# `sluice simulate --from-cluster`: the same.
add_executable(test_from_cluster ${CMAKE_CURRENT_LIST_DIR}/from_cluster_test.c)
target_link_libraries(test_from_cluster PRIVATE scripted_server sluice_cli ${CMOCKA})
add_test(NAME from_cluster COMMAND test_from_cluster)
