# The core, linked without a feature of the product: a stray call to one does not link. Quota at a moment and over
# time, beside a plain list; what victims cost, a row each, beside all subsets.
foreach(name clusterqueue quota_plan victim_cost)
  add_executable(test_queue_${name} ${CMAKE_CURRENT_LIST_DIR}/../queue/${name}_test.c ${CMAKE_CURRENT_LIST_DIR}/no_feature.c)
  target_link_libraries(test_queue_${name} PRIVATE queue_core ${CMOCKA})
  add_test(NAME queue_${name} COMMAND test_queue_${name})
  set_tests_properties(queue_${name} PROPERTIES TIMEOUT 900)
endforeach()
foreach(name quota_plan victim_cost)
  target_sources(test_queue_${name} PRIVATE ${CMAKE_CURRENT_LIST_DIR}/../../sim/rng.c)
endforeach()
long_test(queue_quota_plan.long test_queue_quota_plan)

# Decisions of the core alone, with a feature of the test's own.
add_executable(test_queue_core ${CMAKE_CURRENT_LIST_DIR}/core_test.c)
target_link_libraries(test_queue_core PRIVATE queue_core ${CMOCKA})
add_test(NAME queue_core COMMAND test_queue_core)

# What other tests look at of the body of a queue.
add_library(queue_inside STATIC ${CMAKE_CURRENT_LIST_DIR}/inside.c)
target_link_libraries(queue_inside PUBLIC queue)
