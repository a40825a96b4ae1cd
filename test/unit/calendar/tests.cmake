# Calendars. The library is tested with nothing but itself and the zone database.
add_library(calendar_words STATIC ${CMAKE_CURRENT_LIST_DIR}/words.c)
target_include_directories(calendar_words PUBLIC ${CMAKE_CURRENT_LIST_DIR})
target_link_libraries(calendar_words PUBLIC tzdata)

# Text that an administrator can read.
add_executable(test_calendar_scenario ${CMAKE_CURRENT_LIST_DIR}/scenario_test.c)
target_link_libraries(test_calendar_scenario PRIVATE calendar_words)
file(GLOB calendars CONFIGURE_DEPENDS ${CMAKE_CURRENT_LIST_DIR}/../../calendar/*.txt)
foreach(path ${calendars})
  get_filename_component(name ${path} NAME_WE)
  add_test(NAME calendar_${name} COMMAND test_calendar_scenario ${path})
  set_tests_properties(calendar_${name} PROPERTIES TIMEOUT 900)
endforeach()

# Against Python's zoneinfo, which knows nothing of our code: every zone, and random calendars.
add_executable(calendar_probe ${CMAKE_CURRENT_LIST_DIR}/probe.c)
target_link_libraries(calendar_probe PRIVATE calendar_words)
find_package(Python3 3.9 COMPONENTS Interpreter)
if(Python3_FOUND)
  set(model ${CMAKE_CURRENT_LIST_DIR}/../../model)
  set(zones ${Python3_EXECUTABLE} ${model}/zones.py $<TARGET_FILE:calendar_probe>)
  add_test(NAME model_zones COMMAND ${zones} --each 5)
  long_test(model_zones.long ${zones})
  set(calendars ${Python3_EXECUTABLE} ${model}/calendars.py $<TARGET_FILE:calendar_probe>)
  add_test(NAME model_calendars COMMAND ${calendars} --calendars 400)
  long_test(model_calendars.long ${calendars})
endif()

foreach(name parts ics)
  add_executable(test_calendar_${name} ${CMAKE_CURRENT_LIST_DIR}/${name}_test.c)
  target_link_libraries(test_calendar_${name} PRIVATE tzdata ${CMOCKA})
  add_test(NAME calendar_${name} COMMAND test_calendar_${name})
  set_tests_properties(calendar_${name} PROPERTIES TIMEOUT 900)
endforeach()

# `sluice calendar`
add_executable(test_calendar_command ${CMAKE_CURRENT_LIST_DIR}/command_test.c)
target_link_libraries(test_calendar_command PRIVATE sluice_cli ${CMOCKA})
add_test(NAME calendar_command COMMAND test_calendar_command)
add_executable(test_calendar_grammar ${CMAKE_CURRENT_LIST_DIR}/grammar_test.c
  ${CMAKE_CURRENT_LIST_DIR}/../../sim/rng.c)
target_link_libraries(test_calendar_grammar PRIVATE sluice_cli ${CMOCKA})
add_test(NAME calendar_grammar COMMAND test_calendar_grammar)
add_executable(test_calendar_cluster ${CMAKE_CURRENT_LIST_DIR}/cluster_test.c)
target_link_libraries(test_calendar_cluster PRIVATE scripted_server sluice_cli ${CMOCKA})
add_test(NAME calendar_cluster COMMAND test_calendar_cluster)
