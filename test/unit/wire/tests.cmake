# What is pure: the small things of base, quantities, placement, requests. They link the queue alone,
# so a stray call to the clock or the network fails the build.
foreach(name base/base job/quantity job/placement job/node_affinity job/job)
  get_filename_component(what ${name} NAME)
  add_executable(${what}_test ${CMAKE_CURRENT_LIST_DIR}/../${name}_test.c)
  target_link_libraries(${what}_test PRIVATE queue ${CJSON_LIBRARY} ${CMOCKA})
  add_test(NAME ${what} COMMAND ${what}_test)
endforeach()

# Records from JSON, patches from intents.
foreach(name decode_job decode_job_faults decode_notes decode_after decode_lending decode_terms decode_admin decode_calendar decode_policy decode_advance_reservation decode_node decode_overcommit
  patch patch_lending patch_pod_template decode_flavor decode_provision decode_template decode_quota decode_trouble)
  add_executable(${name}_test ${CMAKE_CURRENT_LIST_DIR}/${name}_test.c)
  target_link_libraries(${name}_test PRIVATE wire tzdata ${CMOCKA})
  add_test(NAME ${name} COMMAND ${name}_test)
endforeach()

# The examples beside the CRDs are understood, all of them together.
file(GLOB EXAMPLES ${CMAKE_SOURCE_DIR}/api/crds/*.example.yaml)
list(TRANSFORM EXAMPLES PREPEND "-f;" OUTPUT_VARIABLE EXAMPLE_FLAGS)
add_test(NAME examples COMMAND sluice simulate ${EXAMPLE_FLAGS})

# For test/e2e/test_fit.py.
add_executable(fit_probe ${CMAKE_CURRENT_LIST_DIR}/../cluster/probe.c)
target_link_libraries(fit_probe PRIVATE wire)
