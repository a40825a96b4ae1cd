# What the cluster will say to a pod, tested with nothing but the core.
foreach(name qos quota flight nodes expected placing property)
  add_executable(test_cluster_${name} ${CMAKE_CURRENT_LIST_DIR}/${name}_test.c)
  target_link_libraries(test_cluster_${name} PRIVATE cluster ${CMOCKA})
  add_test(NAME cluster_${name} COMMAND test_cluster_${name})
endforeach()

# Nodes and pods in a line each.
foreach(name nodes expected placing property)
  target_sources(test_cluster_${name} PRIVATE ${CMAKE_CURRENT_LIST_DIR}/words.c)
endforeach()
target_sources(test_cluster_property PRIVATE ${CMAKE_CURRENT_LIST_DIR}/model.c)

# For test/e2e/test_resource_quota.py.
add_executable(quota_probe ${CMAKE_CURRENT_LIST_DIR}/quota_probe.c)
target_link_libraries(quota_probe PRIVATE wire)
# The same, at length.
long_test(cluster_placing.long test_cluster_placing)
long_test(cluster_property.long test_cluster_property)
