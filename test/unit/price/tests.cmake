# What things cost, tested with nothing but itself.
foreach(name charge money series tariff forecast)
  add_executable(test_price_${name} ${CMAKE_CURRENT_LIST_DIR}/${name}_test.c)
  target_link_libraries(test_price_${name} PRIVATE price ${CMOCKA})
  add_test(NAME price_${name} COMMAND test_price_${name})
endforeach()
