# What `sluice doctor` compares a cluster with, as C source.
file(GLOB DOCTOR_MANIFESTS RELATIVE ${PROJECT_SOURCE_DIR} CONFIGURE_DEPENDS
  ${PROJECT_SOURCE_DIR}/api/crds/*.yaml ${PROJECT_SOURCE_DIR}/deploy/policies/*/*.yaml)
list(FILTER DOCTOR_MANIFESTS EXCLUDE REGEX "(example|kustomization)\\.yaml$")
list(APPEND DOCTOR_MANIFESTS deploy/rbac/controller.yaml deploy/components/idle-resources/role.yaml)
list(TRANSFORM DOCTOR_MANIFESTS PREPEND ${PROJECT_SOURCE_DIR}/ OUTPUT_VARIABLE DOCTOR_MANIFEST_PATHS)
add_custom_command(OUTPUT ${CMAKE_CURRENT_BINARY_DIR}/doctor_manifests.c
  COMMAND ${CMAKE_COMMAND} -DROOT=${PROJECT_SOURCE_DIR} -DOUT=${CMAKE_CURRENT_BINARY_DIR}/doctor_manifests.c
    "-DFILES=${DOCTOR_MANIFESTS}" -DHEADER=cli/doctor/deployed.h -DSTRUCT=deployed -DTABLE=DEPLOYED
    -P ${CMAKE_CURRENT_SOURCE_DIR}/embed.cmake
  DEPENDS ${DOCTOR_MANIFEST_PATHS} ${CMAKE_CURRENT_SOURCE_DIR}/embed.cmake VERBATIM)
