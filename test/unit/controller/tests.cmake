# The two programs: what they are made of, without a control plane.
add_library(controller_world STATIC ${CMAKE_CURRENT_LIST_DIR}/controller_world.c)
target_link_libraries(controller_world PUBLIC controller_parts golden)
foreach(name answers api queued_jobs autoscaler_status decision_log cost clock gate leadership log metrics options page job_scope reader seen_set status summary time_specs timeline watchers week)
  add_executable(test_controller_${name} ${CMAKE_CURRENT_LIST_DIR}/${name}_test.c)
  target_link_libraries(test_controller_${name} PRIVATE controller_world ${CMOCKA})
  add_test(NAME controller_${name} COMMAND test_controller_${name})
  set_tests_properties(controller_${name} PROPERTIES TIMEOUT 900)
endforeach()
# The transport, all of it, without anything of Sluice.
foreach(name coding http posted tls waiting_room)
  add_executable(test_controller_${name} ${CMAKE_CURRENT_LIST_DIR}/${name}_test.c)
  target_link_libraries(test_controller_${name} PRIVATE -Wl,--whole-archive net -Wl,--no-whole-archive ${CMOCKA})
  add_test(NAME controller_${name} COMMAND test_controller_${name})
  set_tests_properties(controller_${name} PROPERTIES TIMEOUT 900)
endforeach()
# Who is in trouble is the test's.
target_link_options(test_controller_api PRIVATE -Wl,--wrap=gate_each_trouble)
target_link_options(test_controller_queued_jobs PRIVATE -Wl,--wrap=gate_job_trouble)
# And what the queue says of windows and prices.
target_link_options(test_controller_queued_jobs PRIVATE -Wl,--wrap=queue_explain -Wl,--wrap=queue_job_bill)
# And what was forecast.
target_link_options(test_controller_queued_jobs PRIVATE -Wl,--wrap=forecasts_find)
# What runs, and when the others start.
foreach(told gate_each_job queue_explain forecasts_find)
  target_link_options(test_controller_timeline PRIVATE -Wl,--wrap=${told})
endforeach()
# What runs, is in trouble and was forecast is the test's.
foreach(told gate_each_job gate_explain gate_job_trouble forecasts_find)
  target_link_options(test_controller_summary PRIVATE -Wl,--wrap=${told})
endforeach()
# The reader and the port are the test's.
foreach(told reader_ask reader_forget http_of http_answer http_stream http_stream_write http_stream_waiting http_stream_end)
  target_link_options(test_controller_watchers PRIVATE -Wl,--wrap=${told})
endforeach()
# The reader, the port and what a controller knows of itself are the test's.
foreach(told reader_new reader_ask http_param http_header http_takes_gzip http_has_room http_answer sources_leadership pg_up informer_pods_denied)
  target_link_options(test_controller_answers PRIVATE -Wl,--wrap=${told})
endforeach()
# The clock of the reader, and whether there may be one more process, is the test's.
target_link_options(test_controller_reader PRIVATE -Wl,--wrap=monotonic_us -Wl,--wrap=fork)
target_compile_definitions(test_controller_metrics PRIVATE SOURCE_DIR="${CMAKE_SOURCE_DIR}")
# What the time_specs tells the queue, the test hears.
target_link_options(test_controller_time_specs PRIVATE -Wl,--wrap=queue_set_calendar
  -Wl,--wrap=queue_set_priceplan -Wl,--wrap=queue_set_budget -Wl,--wrap=queue_reject_calendar
  -Wl,--wrap=queue_drop_calendar)
# These have an API server that does as it is told (../kube/tests.cmake).
foreach(name announcement dispatcher finalizers auth session events informer predecessors status_writer views)
  add_executable(test_controller_${name} ${CMAKE_CURRENT_LIST_DIR}/${name}_test.c)
  target_link_libraries(test_controller_${name} PRIVATE controller_world scripted_server ${CMOCKA})
  add_test(NAME controller_${name} COMMAND test_controller_${name})
  set_tests_properties(controller_${name} PROPERTIES TIMEOUT 900)
endforeach()
# The agents of nodes: all of their end here, without anything that lends.
foreach(name node_agents node_callers rendezvous)
  add_executable(test_controller_${name} ${CMAKE_CURRENT_LIST_DIR}/${name}_test.c)
  target_link_libraries(test_controller_${name} PRIVATE nodes scripted_server ${CMOCKA})
  add_test(NAME controller_${name} COMMAND test_controller_${name})
  set_tests_properties(controller_${name} PROPERTIES TIMEOUT 900)
endforeach()
target_link_options(test_controller_node_agents PRIVATE -Wl,--wrap=monotonic_us)
# Forecasts and reviews. Asks are the test's.
foreach(name forecasts reviews)
  add_executable(test_controller_${name} ${CMAKE_CURRENT_LIST_DIR}/${name}_test.c)
  target_link_libraries(test_controller_${name} PRIVATE controller_parts ${CMOCKA})
  add_test(NAME controller_${name} COMMAND test_controller_${name})
  set_tests_properties(controller_${name} PROPERTIES TIMEOUT 900)
  foreach(told ask_begin ask_read ask_fd ask_reap ask_free)
    target_link_options(test_controller_${name} PRIVATE -Wl,--wrap=${told})
  endforeach()
endforeach()
# What reviews are about: plays that fork, without a port.
foreach(name job_variants whatif)
  add_executable(test_controller_${name} ${CMAKE_CURRENT_LIST_DIR}/${name}_test.c)
  target_link_libraries(test_controller_${name} PRIVATE controller_parts golden ${CMOCKA})
  add_test(NAME controller_${name} COMMAND test_controller_${name})
  set_tests_properties(controller_${name} PROPERTIES TIMEOUT 900)
endforeach()
add_executable(test_controller_moves ${CMAKE_CURRENT_LIST_DIR}/moves_test.c)
target_link_libraries(test_controller_moves PRIVATE forecasts tzdata ${CMOCKA})
add_test(NAME controller_moves COMMAND test_controller_moves)
set_tests_properties(controller_moves PROPERTIES TIMEOUT 900)
# Clients with certificates of their own (tls_client.h).
foreach(name front_proxy visibility)
  add_executable(test_controller_${name} ${CMAKE_CURRENT_LIST_DIR}/${name}_test.c)
  target_link_libraries(test_controller_${name} PRIVATE controller_parts scripted_server ${CMOCKA})
  add_test(NAME controller_${name} COMMAND test_controller_${name})
  set_tests_properties(controller_${name} PROPERTIES TIMEOUT 900)
endforeach()
target_link_options(test_controller_front_proxy PRIVATE -Wl,--wrap=gnutls_x509_trust_list_verify_crt2
  -Wl,--wrap=front_proxy_refuses)
# Who answers and who announces is the test's.
foreach(told answers_take_passed_on answers_drop gate_leading announcement_new announcement_free announcement_tick
  announcement_pause)
  target_link_options(test_controller_visibility PRIVATE -Wl,--wrap=${told})
endforeach()
# What the gate wants is the test's, and what it is answered, the test hears.
target_link_options(test_controller_dispatcher PRIVATE -Wl,--wrap=gate_take_intent -Wl,--wrap=gate_answer_job
  -Wl,--wrap=gate_answer_lease -Wl,--wrap=pg_lease)
# What the queue and the gate are told, the test hears; whether pods are wanted it says.
foreach(told gate_set_synced queue_know_cluster queue_set_node queue_drop_node queue_bind_pod queue_unbind_pod queue_wants_pods queue_know_pods
  queue_saw_quotas queue_set_resource_quota queue_set_disruption_budget queue_quotas_behind queue_set_made_nodes
  queue_set_device_class queue_drop_device_class queue_know_device_classes queue_drop_made_nodes queue_set_advance_reservation gate_leading status_writer_see status_writer_lose monotonic_us)
  target_link_options(test_controller_informer PRIVATE -Wl,--wrap=${told})
endforeach()
# What the queue asks and is told, and what the ledger says, is the test's.
foreach(told queue_take_wanted queue_answer_wanted queue_return_wanted gate_follows_job pg_outcomes)
  target_link_options(test_controller_predecessors PRIVATE -Wl,--wrap=${told})
endforeach()
# What is known of the Job, and its review, is the test's.
foreach(told http_of gate_job_trouble gate_bill gate_ledger_down_ms forecasts_find queue_view_after reviews_enter review_leave review_play clock_of_loop_ms)
  target_link_options(test_controller_views PRIVATE -Wl,--wrap=${told})
endforeach()
# The port is the test's.
foreach(told http_caller http_has_right http_answer monotonic_us)
  target_link_options(test_controller_session PRIVATE -Wl,--wrap=${told})
endforeach()
