# The ledger's tests. Each starts a Postgres of its own (pg_fixture.h).
set(LEDGER_TEST_DIR ${CMAKE_CURRENT_LIST_DIR})
get_filename_component(LEDGER_SIM_DIR ${LEDGER_TEST_DIR}/../../sim ABSOLUTE)
find_path(LEDGER_LIBPQ_INCLUDE libpq-fe.h PATH_SUFFIXES postgresql REQUIRED)

add_library(ledger_drive STATIC ${LEDGER_TEST_DIR}/pg_fixture.c ${LEDGER_TEST_DIR}/drive.c)
target_include_directories(ledger_drive PUBLIC ${LEDGER_LIBPQ_INCLUDE})
target_link_libraries(ledger_drive PUBLIC ledger)

function(ledger_test name)
  add_executable(test_ledger_${name} ${LEDGER_TEST_DIR}/${name}_test.c ${ARGN})
  target_link_libraries(test_ledger_${name} PRIVATE ledger_drive cmocka)
  add_test(NAME ledger_${name} COMMAND test_ledger_${name})
endfunction()

ledger_test(pg)
ledger_test(tree)
ledger_test(bills)
ledger_test(faults)
ledger_test(parity ${LEDGER_SIM_DIR}/model_ledger.c ${LEDGER_SIM_DIR}/rng.c)
ledger_test(history_page)
target_compile_definitions(test_ledger_history_page PRIVATE QUERIES="${CMAKE_SOURCE_DIR}/docs/queries.sql"
  ASK_PAGE="${CMAKE_SOURCE_DIR}/docs/ask.md")
ledger_test(outcomes)
target_link_libraries(test_ledger_faults PRIVATE ${LIBEV})

add_executable(bench_ledger ${LEDGER_TEST_DIR}/../../bench/ledger.c)
target_link_libraries(bench_ledger PRIVATE ledger_drive)
add_executable(bench_retention ${LEDGER_TEST_DIR}/../../bench/retention.c)
target_link_libraries(bench_retention PRIVATE ledger_drive)

# What the controller reads of it.
foreach(name past history retention roles background)
  add_executable(test_ledger_${name} ${CMAKE_CURRENT_LIST_DIR}/${name}_test.c)
  target_link_libraries(test_ledger_${name} PRIVATE controller_parts ledger_drive ${CMOCKA})
  add_test(NAME ledger_${name} COMMAND test_ledger_${name})
endforeach()
target_compile_definitions(test_ledger_roles PRIVATE OPERATE_PAGE="${CMAKE_SOURCE_DIR}/docs/operate.md")
