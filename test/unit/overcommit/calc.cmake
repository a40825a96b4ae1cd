# `sluice overcommit calc` on the files of test/overcommit, whose comments say what is expected.
add_executable(overcommit_calc ${CMAKE_CURRENT_LIST_DIR}/calc.c)
target_link_libraries(overcommit_calc PRIVATE base)
file(GLOB calc_files CONFIGURE_DEPENDS ${CMAKE_CURRENT_LIST_DIR}/../../overcommit/*.yaml)
foreach(path ${calc_files})
  get_filename_component(name ${path} NAME_WE)
  add_test(NAME calc_${name} COMMAND overcommit_calc $<TARGET_FILE:sluice> ${path})
  set_tests_properties(calc_${name} PROPERTIES TIMEOUT 900)
endforeach()

# Its command line, and `sluice overcommit explain`.
add_executable(test_overcommit_command ${CMAKE_CURRENT_LIST_DIR}/command_test.c)
target_link_libraries(test_overcommit_command PRIVATE scripted_server sluice_cli ${CMOCKA})
add_test(NAME overcommit_command COMMAND test_overcommit_command)

# And it says what the controller does.
add_executable(overcommit_parity ${CMAKE_CURRENT_LIST_DIR}/parity_test.c)
target_link_libraries(overcommit_parity PRIVATE overcommit_controller sluice_cli)
add_test(NAME calc_parity COMMAND overcommit_parity ${calc_files})
