# SPDX-License-Identifier: Apache-2.0
# Installs the headers, a package for find_package(cubby CONFIG) and a file for pkg-config; nothing in them names the
# machine that installed them. The library has no machine code, so the version file ignores the word size.
include(CMakePackageConfigHelpers)

set(cubby_package_dir ${CMAKE_INSTALL_DATADIR}/cmake/cubby)

install(TARGETS cubby EXPORT cubbyTargets COMPONENT library)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/cubby DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT library
        FILES_MATCHING PATTERN "*.hpp")
install(EXPORT cubbyTargets NAMESPACE cubby:: DESTINATION ${cubby_package_dir} COMPONENT library)

configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/cubbyConfig.cmake.in ${PROJECT_BINARY_DIR}/cubbyConfig.cmake
                              INSTALL_DESTINATION ${cubby_package_dir})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/cubbyConfigVersion.cmake COMPATIBILITY SameMinorVersion
                                 ARCH_INDEPENDENT)
install(FILES ${PROJECT_BINARY_DIR}/cubbyConfig.cmake ${PROJECT_BINARY_DIR}/cubbyConfigVersion.cmake
        DESTINATION ${cubby_package_dir} COMPONENT library)

# pkg-config finds the headers from where its own file lies, so that an installed tree can be moved.
set(cubby_pc_dir ${CMAKE_INSTALL_DATADIR}/pkgconfig)
file(RELATIVE_PATH cubby_pc_to_include "/prefix/${cubby_pc_dir}" "/prefix/${CMAKE_INSTALL_INCLUDEDIR}")
if(IS_ABSOLUTE "${CMAKE_INSTALL_INCLUDEDIR}")
  set(cubby_pc_includedir "${CMAKE_INSTALL_INCLUDEDIR}")
else()
  set(cubby_pc_includedir "\${pcfiledir}/${cubby_pc_to_include}")
endif()
configure_file(${PROJECT_SOURCE_DIR}/cmake/cubby.pc.in ${PROJECT_BINARY_DIR}/cubby.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/cubby.pc DESTINATION ${cubby_pc_dir} COMPONENT library)
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT library)
