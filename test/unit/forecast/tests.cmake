# Forecasts, tested with the queue alone: a stray call to a clock of the controller does not link.
foreach(name play durations arrivals quantiles ask)
  add_executable(test_forecast_${name} ${CMAKE_CURRENT_LIST_DIR}/${name}_test.c)
  target_link_libraries(test_forecast_${name} PRIVATE forecast tzdata ${CMOCKA})
  add_test(NAME forecast_${name} COMMAND test_forecast_${name})
  set_tests_properties(forecast_${name} PROPERTIES TIMEOUT 900)
endforeach()
target_link_options(test_forecast_ask PRIVATE -Wl,--wrap=nice)
