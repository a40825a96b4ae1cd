# The queue library, tested with nothing but itself: a stray call to the clock or to the controller
# does not link.
set(queue_tests admin_objects advance after_view ahead cohorts dependencies outcome_record predecessor_questions selectors singletons tree user user_limits directives jobs budget money cheapest plan windows idle node_suitability node_fit namespace_quota nice week)
foreach(name ${queue_tests})
  add_executable(test_queue_${name} ${CMAKE_CURRENT_LIST_DIR}/${name}_test.c)
  target_link_libraries(test_queue_${name} PRIVATE queue ${CMOCKA})
  add_test(NAME queue_${name} COMMAND test_queue_${name})
  set_tests_properties(queue_${name} PROPERTIES TIMEOUT 900)
endforeach()
# Weeks in which the clocks change.
target_link_libraries(test_queue_week PRIVATE tzdata)

# What Jobs ask for, and the core: each linked alone, so that neither can come to need what stands above it.
foreach(test requests.shape requests.accounting requests.pod_template core.clusterqueue core.quota_plan core.victim_cost)
  string(REPLACE "." ";" pair ${test})
  list(GET pair 0 library)
  list(GET pair 1 name)
  add_executable(test_queue_${name} ${CMAKE_CURRENT_LIST_DIR}/${name}_test.c)
  if(library STREQUAL core)
    target_sources(test_queue_${name} PRIVATE ${CMAKE_CURRENT_LIST_DIR}/../core/no_feature.c ${CMAKE_CURRENT_LIST_DIR}/../../sim/rng.c)
    set(library queue_core)
  endif()
  target_link_libraries(test_queue_${name} PRIVATE ${library} ${CMOCKA})
  add_test(NAME queue_${name} COMMAND test_queue_${name})
  set_tests_properties(queue_${name} PROPERTIES TIMEOUT 900)
endforeach()
add_executable(test_queue_core ${CMAKE_CURRENT_LIST_DIR}/../core/core_test.c)
target_link_libraries(test_queue_core PRIVATE queue_core ${CMOCKA})
add_test(NAME queue_core COMMAND test_queue_core)

# Pods in a line each.
foreach(name pod_template node_suitability node_fit)
  target_sources(test_queue_${name} PRIVATE ${CMAKE_CURRENT_LIST_DIR}/../cluster/words.c)
endforeach()

# Text that an administrator can read.
add_executable(test_queue_scenario ${CMAKE_CURRENT_LIST_DIR}/scenario_test.c
  ${CMAKE_CURRENT_LIST_DIR}/words.c ${CMAKE_CURRENT_LIST_DIR}/words_limits.c
  ${CMAKE_CURRENT_LIST_DIR}/words_after.c
  ${CMAKE_CURRENT_LIST_DIR}/words_idle.c ${CMAKE_CURRENT_LIST_DIR}/words_cluster.c
  ${CMAKE_CURRENT_LIST_DIR}/../cluster/words.c
  ${CMAKE_CURRENT_LIST_DIR}/words_time.c ${CMAKE_CURRENT_LIST_DIR}/words_money.c
  ${CMAKE_CURRENT_LIST_DIR}/words_reserve.c ${CMAKE_CURRENT_LIST_DIR}/pieces.c)
target_link_libraries(test_queue_scenario PRIVATE queue tzdata ${CMOCKA})
file(GLOB scenarios CONFIGURE_DEPENDS ${CMAKE_CURRENT_LIST_DIR}/../../scenario/*.txt)
foreach(path ${scenarios})
  get_filename_component(name ${path} NAME_WE)
  add_test(NAME scenario_${name} COMMAND test_queue_scenario ${path})
endforeach()

# Tens of thousands of random facts, each decision compared with a naive reference.
add_executable(test_queue_property ${CMAKE_CURRENT_LIST_DIR}/property_test.c
  ${CMAKE_CURRENT_LIST_DIR}/model.c)
target_link_libraries(test_queue_property PRIVATE queue ${CMOCKA})
add_test(NAME queue_property COMMAND test_queue_property)
set_tests_properties(queue_property PROPERTIES TIMEOUT 600)

# Victims that hurt least: the steps, a row each, and all subsets of random candidates; of random
# worlds of the queue. Runs that grow and give pods, in random worlds. And the plan, beside a plain list, and
# what bookings are worth.
foreach(name victims sizes booked_starts advance_restart)
  add_executable(test_queue_${name} ${CMAKE_CURRENT_LIST_DIR}/${name}_test.c
    ${CMAKE_CURRENT_LIST_DIR}/../../sim/rng.c)
  target_link_libraries(test_queue_${name} PRIVATE queue ${CMOCKA})
  add_test(NAME queue_${name} COMMAND test_queue_${name})
  set_tests_properties(queue_${name} PROPERTIES TIMEOUT 900)
endforeach()
# The same, at length.
foreach(name advance booked_starts cheapest cohorts dependencies money namespace_quota node_suitability outcome_record property quota_plan
    singletons windows)
  long_test(queue_${name}.long test_queue_${name})
endforeach()
# Both take how many worlds.
long_test(queue_victims.long test_queue_victims 4000)
long_test(queue_sizes.long test_queue_sizes 300)
foreach(name booked_starts advance_restart)
  target_sources(test_queue_${name} PRIVATE ${CMAKE_CURRENT_LIST_DIR}/planned.c)
endforeach()
