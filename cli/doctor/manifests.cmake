# What `sluice doctor` compares a cluster with, as C source.
file(GLOB DOCTOR_MANIFESTS RELATIVE ${PROJECT_SOURCE_DIR} CONFIGURE_DEPENDS
  ${PROJECT_SOURCE_DIR}/api/crds/*.yaml ${PROJECT_SOURCE_DIR}/deploy/policies/*/*.yaml)
list(FILTER DOCTOR_MANIFESTS EXCLUDE REGEX "(example|kustomization)\\.yaml$")
list(APPEND DOCTOR_MANIFESTS deploy/rbac/controller.yaml deploy/components/idle-resources/role.yaml deploy/components/node-agent/role.yaml)
embed_files(${CMAKE_CURRENT_BINARY_DIR}/doctor_manifests.c ${PROJECT_SOURCE_DIR} cli/deployed.h deployed DEPLOYED ${DOCTOR_MANIFESTS})
