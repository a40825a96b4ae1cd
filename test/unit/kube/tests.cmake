# The Kubernetes client against tables, byte streams and a scripted server.
add_library(scripted_server STATIC ${CMAKE_CURRENT_LIST_DIR}/scripted_server.c)
target_link_libraries(scripted_server PUBLIC kube)
foreach(name answer client config credential frames json shared_watch tls watch)
  add_executable(test_kube_${name} ${CMAKE_CURRENT_LIST_DIR}/${name}_test.c)
  target_link_libraries(test_kube_${name} PRIVATE scripted_server kube ${CMOCKA})
  add_test(NAME kube_${name} COMMAND test_kube_${name})
  set_tests_properties(kube_${name} PROPERTIES TIMEOUT 900)
endforeach()

# Real Jobs, mutated, among healthy ones; follow.c stands in for the client, in front of it.
add_executable(test_kube_mutation ${CMAKE_CURRENT_LIST_DIR}/mutation_test.c ${CMAKE_CURRENT_LIST_DIR}/../../fuzz/follow.c)
target_link_libraries(test_kube_mutation PRIVATE kube)
target_compile_definitions(test_kube_mutation PRIVATE CORPUS="${CMAKE_CURRENT_LIST_DIR}/../../fuzz/corpus")
add_test(NAME kube_mutation COMMAND test_kube_mutation 0 999)
long_test(kube_mutation.long test_kube_mutation)
