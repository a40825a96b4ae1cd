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

# What an ordinary Job enters: all of the queue once more, without inlining and with a hook at each entry.
set(all_of_queue)
foreach(part base job price calendar cluster requests queue_core_objects queue)
  get_target_property(from ${part} SOURCE_DIR)
  get_target_property(sources ${part} SOURCES)
  list(FILTER sources EXCLUDE REGEX "TARGET_OBJECTS")
  list(TRANSFORM sources PREPEND ${from}/)
  list(APPEND all_of_queue ${sources})
endforeach()
add_executable(test_queue_entered ${CMAKE_CURRENT_LIST_DIR}/entered.c ${all_of_queue})
target_compile_definitions(test_queue_entered PRIVATE _GNU_SOURCE SLUICE_VERSION="${SLUICE_VERSION}")
target_include_directories(test_queue_entered PRIVATE ${CMAKE_SOURCE_DIR} ${CMAKE_SOURCE_DIR}/include)
target_compile_options(test_queue_entered PRIVATE -O0 -g1 -finstrument-functions -finstrument-functions-exclude-file-list=.h)
target_link_options(test_queue_entered PRIVATE -no-pie)
target_link_libraries(test_queue_entered PRIVATE m)
add_test(NAME queue_entered COMMAND python3 ${CMAKE_CURRENT_LIST_DIR}/entered.py $<TARGET_FILE:test_queue_entered> ${CMAKE_SOURCE_DIR})

# What other tests look at of the body of a queue.
add_library(queue_inside STATIC ${CMAKE_CURRENT_LIST_DIR}/inside.c)
target_link_libraries(queue_inside PUBLIC queue)
