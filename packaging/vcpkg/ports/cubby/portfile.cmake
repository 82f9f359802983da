# SPDX-License-Identifier: Apache-2.0
# An overlay port that installs the tree it lies in: vcpkg install cubby --overlay-ports=<this repository>/packaging/vcpkg/ports
get_filename_component(SOURCE_PATH "${CMAKE_CURRENT_LIST_DIR}/../../../.." ABSOLUTE)

set(VCPKG_BUILD_TYPE release) # headers alone: there is nothing to build twice

vcpkg_cmake_configure(
  SOURCE_PATH "${SOURCE_PATH}"
  OPTIONS
    -DCUBBY_BUILD_PROGRAMS=OFF
    -DCUBBY_BUILD_TESTS=OFF
    -DCUBBY_BUILD_EXAMPLES=OFF
    -DCUBBY_INSTALL=ON
)
vcpkg_cmake_install()
vcpkg_cmake_config_fixup(CONFIG_PATH share/cmake/cubby)
vcpkg_fixup_pkgconfig()

file(REMOVE_RECURSE "${CURRENT_PACKAGES_DIR}/share/doc")
vcpkg_install_copyright(FILE_LIST "${SOURCE_PATH}/LICENSE")
