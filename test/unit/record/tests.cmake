# What goes into the queue and comes out of it, written down and played again.
foreach(name schema calls record)
  add_executable(test_record_${name} ${CMAKE_CURRENT_LIST_DIR}/${name}_test.c ${CMAKE_CURRENT_LIST_DIR}/shadow.c)
  target_link_libraries(test_record_${name} PRIVATE record ${CMOCKA})
  target_compile_definitions(test_record_${name} PRIVATE SOURCE_DIR="${CMAKE_SOURCE_DIR}")
  add_test(NAME record_${name} COMMAND test_record_${name})
  set_tests_properties(record_${name} PROPERTIES TIMEOUT 900)
endforeach()

# The queue's own worlds, each queue with a shadow: random facts, scenarios, Jobs that wait for others. In each run these
# are the scenarios, which have every kind of fact, and `sim --replayed`. The others are for `./dev test --long`.
# All are linked from what the queue's own tests are compiled to. None is of `budget`, which measures the heap: the shadow
# has as much of it as the queue.
add_library(shadow_of_all STATIC ${CMAKE_CURRENT_LIST_DIR}/shadow.c ${CMAKE_CURRENT_LIST_DIR}/shadow_all.c)
target_link_libraries(shadow_of_all PUBLIC record tzdata ${CMOCKA})
set(shadowed property sizes victims selectors singletons outcome_record predecessor_questions cheapest idle user_limits nice)
foreach(name ${shadowed} scenario)
  add_executable(test_record_of_${name} $<TARGET_OBJECTS:test_queue_${name}>)
  set_target_properties(test_record_of_${name} PROPERTIES LINKER_LANGUAGE C)
  target_link_libraries(test_record_of_${name} PRIVATE shadow_of_all queue_worlds)
  target_link_options(test_record_of_${name} PRIVATE -Wl,--wrap=queue_new -Wl,--wrap=queue_free)
endforeach()
foreach(name ${shadowed})
  long_test(record_of_${name} test_record_of_${name})
endforeach()
file(GLOB scenarios CONFIGURE_DEPENDS ${CMAKE_CURRENT_LIST_DIR}/../../scenario/*.txt)
foreach(path ${scenarios})
  get_filename_component(name ${path} NAME_WE)
  add_test(NAME record_of_scenario_${name} COMMAND test_record_of_scenario ${path})
endforeach()
