# The Kubernetes client against tables, byte streams and a scripted server.
add_library(scripted_server STATIC ${CMAKE_CURRENT_LIST_DIR}/scripted_server.c)
target_link_libraries(scripted_server PUBLIC kube)
foreach(name answer client config credential frames json share tls watch)
  add_executable(test_kube_${name} ${CMAKE_CURRENT_LIST_DIR}/kube_${name}.c)
  target_link_libraries(test_kube_${name} PRIVATE scripted_server kube ${CMOCKA})
  add_test(NAME kube_${name} COMMAND test_kube_${name})
  set_tests_properties(kube_${name} PROPERTIES TIMEOUT 120)
endforeach()
