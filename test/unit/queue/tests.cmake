# The queue library, tested with nothing but itself: a stray call to the clock or to the controller
# does not link.
# What its tests share: chance, and what they look at of its body.
add_library(queue_worlds STATIC ${CMAKE_CURRENT_LIST_DIR}/../../sim/rng.c)
target_link_libraries(queue_worlds PUBLIC queue_inside)
set(queue_tests admin_objects advance after_view ahead cohorts dependencies outcome_record predecessor_questions selectors singletons tree user user_limits directives jobs budget money cheapest plan windows idle node_suitability node_fit namespace_quota nice week)
foreach(name ${queue_tests})
  add_executable(test_queue_${name} ${CMAKE_CURRENT_LIST_DIR}/${name}_test.c)
  target_link_libraries(test_queue_${name} PRIVATE queue_worlds ${CMOCKA})
  add_test(NAME queue_${name} COMMAND test_queue_${name})
  set_tests_properties(queue_${name} PROPERTIES TIMEOUT 900)
endforeach()
# Weeks in which the clocks change.
target_link_libraries(test_queue_week PRIVATE tzdata)

# What Jobs ask for is linked alone, so that it cannot come to need what stands above it. The core: ../core.
foreach(name shape accounting pod_template)
  add_executable(test_queue_${name} ${CMAKE_CURRENT_LIST_DIR}/${name}_test.c)
  target_link_libraries(test_queue_${name} PRIVATE requests ${CMOCKA})
  add_test(NAME queue_${name} COMMAND test_queue_${name})
endforeach()

# Tests that write pods as text.
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

# Random worlds: victims that hurt least beside all subsets, sizes of runs, what bookings are worth, and
# AdvanceReservations after a restart.
foreach(name victims sizes booked_starts advance_restart)
  add_executable(test_queue_${name} ${CMAKE_CURRENT_LIST_DIR}/${name}_test.c)
  target_link_libraries(test_queue_${name} PRIVATE queue_worlds ${CMOCKA})
  add_test(NAME queue_${name} COMMAND test_queue_${name})
  set_tests_properties(queue_${name} PROPERTIES TIMEOUT 900)
endforeach()
# Longer runs of the same programs.
foreach(name advance booked_starts cheapest cohorts dependencies money namespace_quota node_suitability outcome_record property
    singletons windows)
  long_test(queue_${name}.long test_queue_${name})
endforeach()
# Both take how many worlds.
long_test(queue_victims.long test_queue_victims 4000)
long_test(queue_sizes.long test_queue_sizes 300)
foreach(name booked_starts advance_restart)
  target_sources(test_queue_${name} PRIVATE ${CMAKE_CURRENT_LIST_DIR}/planned.c)
endforeach()
