# `sluice simulate`: its parts, and whole worlds with what happens in them (test/simulate/).
foreach(name engine live_jobs manifest parts rules)
  add_executable(test_simulate_${name} ${CMAKE_CURRENT_LIST_DIR}/${name}_test.c)
  target_link_libraries(test_simulate_${name} PRIVATE simulate ${CMOCKA})
  add_test(NAME simulate_${name} COMMAND test_simulate_${name})
  set_tests_properties(simulate_${name} PROPERTIES TIMEOUT 900)
endforeach()
add_executable(test_simulate_world ${CMAKE_CURRENT_LIST_DIR}/world_test.c)
target_link_libraries(test_simulate_world PRIVATE simulate)
file(GLOB worlds CONFIGURE_DEPENDS ${CMAKE_CURRENT_LIST_DIR}/../../simulate/*.yaml)
foreach(path ${worlds})
  get_filename_component(name ${path} NAME_WE)
  add_test(NAME simulate_world_${name} COMMAND test_simulate_world ${path})
endforeach()

# FIFO and EASY backfill against a reference in Python, on traces drawn from a seed.
find_package(Python3 COMPONENTS Interpreter QUIET)
if(Python3_FOUND)
  set(model ${CMAKE_CURRENT_LIST_DIR}/../../model/easy.py)
  set(generator ${CMAKE_CURRENT_LIST_DIR}/../../bench/synthetic_trace.py)
  foreach(seed 1 2 3)
    set(trace ${CMAKE_CURRENT_BINARY_DIR}/easy-${seed}.swf)
    add_test(NAME simulate_easy_${seed} COMMAND sh -c
      "'${Python3_EXECUTABLE}' '${generator}' --jobs 2000 --processors 128 --load 1.1 --seed ${seed} >'${trace}' &&
       '${Python3_EXECUTABLE}' '${model}' $<TARGET_FILE:sluice> '${trace}' 128")
  endforeach()
  # Cheapest starts and their cost against brute force.
  foreach(seed 1 2)
    set(trace ${CMAKE_CURRENT_BINARY_DIR}/cheapest-${seed}.swf)
    add_test(NAME model_cheapest_${seed} COMMAND sh -c
      "'${Python3_EXECUTABLE}' '${generator}' --jobs 2000 --processors 128 --load 0.1 --seed ${seed} >'${trace}' &&
       '${Python3_EXECUTABLE}' '${CMAKE_CURRENT_LIST_DIR}/../../model/cheapest.py' $<TARGET_FILE:sluice> '${trace}'")
  endforeach()
  add_test(NAME model_placement COMMAND Python3::Interpreter
    ${CMAKE_CURRENT_LIST_DIR}/../../model/placement.py)
  # Random worlds, decided by the queue and by a second, plain writing of Kueue's cycle.
  set(compare ${Python3_EXECUTABLE} ${CMAKE_CURRENT_LIST_DIR}/../../model/compare.py $<TARGET_FILE:sluice>)
  add_test(NAME model_worlds COMMAND ${compare} --seeds 50)
  long_test(model_worlds.long ${compare} --seeds 200)
  # Those that once told something: StrictFIFO heads that are asked again.
  add_test(NAME model_worlds_known COMMAND ${compare} --seed 228 353 425 1237 1242 2874)
endif()
