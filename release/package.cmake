# The .deb, of a folder that has all of it: STAGE=... VERSION=... OUT=... cpack --config release/package.cmake
# Which packages the programs need, dpkg-shlibdeps says. Nothing is started and no account made: in a cluster the image runs
# the controller, and elsewhere its unit is the admin's.
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME sluice)
set(CPACK_PACKAGE_VERSION $ENV{VERSION})
set(CPACK_PACKAGE_FILE_NAME sluice-$ENV{VERSION})
set(CPACK_PACKAGE_VENDOR Sluice)
set(CPACK_PACKAGE_CONTACT "Sluice <sluice@localhost>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "gate for suspended Kubernetes Jobs")
set(CPACK_PACKAGE_DESCRIPTION "sluice-controller starts suspended Jobs when their queue has quota;
 sluice says why one waits, until when, and what it costs.")
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION admin)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
# Calendars name zones, and servers show certificates.
set(CPACK_DEBIAN_PACKAGE_DEPENDS "tzdata, ca-certificates")
set(CPACK_INSTALLED_DIRECTORIES "$ENV{STAGE};/")
set(CPACK_PACKAGING_INSTALL_PREFIX /)
set(CPACK_SET_DESTDIR OFF)
set(CPACK_PACKAGE_DIRECTORY $ENV{OUT})
