# SPDX-License-Identifier: Apache-2.0
# The install tree: find_package(tilewright) and pkg-config; tests/consumer is such a user.
# Components: library (shared libraries), development (headers, archives, CMake and pkg-config
# files), command, documentation.
include(CMakePackageConfigHelpers)
set(tw_config_folder ${CMAKE_INSTALL_LIBDIR}/cmake/tilewright)

# Shared libraries are found beside each other, wherever the prefix is.
if(BUILD_SHARED_LIBS)
  set_target_properties(tilewright tilewright_emulator PROPERTIES INSTALL_RPATH "$ORIGIN")
  if(TARGET tilewright_command)
    set_target_properties(tilewright_command PROPERTIES
                          INSTALL_RPATH "$ORIGIN/../${CMAKE_INSTALL_LIBDIR}")
  endif()
endif()

# The layout algebra by itself: COMPONENTS layout needs none of the library's dependencies.
install(TARGETS tilewright_layout EXPORT tilewrightLayoutTargets)
install(TARGETS tilewright_emulator tilewright_emulator_hooks tilewright EXPORT tilewrightTargets
        LIBRARY COMPONENT library NAMELINK_COMPONENT development
        ARCHIVE COMPONENT development)
foreach(targets IN ITEMS tilewrightLayoutTargets tilewrightTargets)
  install(EXPORT ${targets} NAMESPACE tilewright:: DESTINATION ${tw_config_folder}
          COMPONENT development)
endforeach()

set(TW_SHARED ${BUILD_SHARED_LIBS})
configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/tilewrightConfig.cmake.in
                              ${PROJECT_BINARY_DIR}/tilewrightConfig.cmake
                              INSTALL_DESTINATION ${tw_config_folder})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/tilewrightConfigVersion.cmake
                                 COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/tilewrightConfig.cmake
              ${PROJECT_BINARY_DIR}/tilewrightConfigVersion.cmake
              ${PROJECT_SOURCE_DIR}/cmake/add_kernel.cmake
              ${PROJECT_SOURCE_DIR}/cmake/ptxas_check.py
              ${PROJECT_SOURCE_DIR}/cmake/host_exits.py
        DESTINATION ${tw_config_folder} COMPONENT development)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/tilewright
        DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT development)

# pkg-config: a static library's own needs are everybody's.
set(tw_pc_needs "fmt spdlog sqlite3")
set(tw_pc_libs "-lboost_context")
if(TW_BACKTRACE_INCLUDE)
  string(APPEND tw_pc_libs " -lbacktrace")
endif()
if(TW_WITH_CUDA)
  string(APPEND tw_pc_libs " -L${CUDAToolkit_LIBRARY_DIR} -lcudart_static -ldl -lrt")
endif()
set(tw_pc_private "")
if(BUILD_SHARED_LIBS)
  set(tw_pc_private .private)
endif()
configure_file(${PROJECT_SOURCE_DIR}/cmake/tilewright.pc.in
               ${PROJECT_BINARY_DIR}/tilewright.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/tilewright.pc
        DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT development)

# The C library: its link name is not that of the shared C++ library (c_library.cmake).
if(TW_WITH_C_LIBRARY)
  install(TARGETS tilewright_c EXPORT tilewrightCTargets
          LIBRARY COMPONENT library NAMELINK_SKIP)
  install(EXPORT tilewrightCTargets NAMESPACE tilewright:: DESTINATION ${tw_config_folder}
          COMPONENT development)
  file(MAKE_DIRECTORY ${PROJECT_BINARY_DIR}/c)
  file(CREATE_LINK libtilewright.so.0 ${PROJECT_BINARY_DIR}/c/libtilewright_c.so SYMBOLIC)
  install(FILES ${PROJECT_BINARY_DIR}/c/libtilewright_c.so DESTINATION ${CMAKE_INSTALL_LIBDIR}
          COMPONENT development)
  install(FILES ${PROJECT_SOURCE_DIR}/include/tilewright.h
          DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT development)
  configure_file(${PROJECT_SOURCE_DIR}/cmake/tilewright-c.pc.in
                 ${PROJECT_BINARY_DIR}/tilewright-c.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/tilewright-c.pc
          DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT development)
endif()

install(FILES ${PROJECT_SOURCE_DIR}/LICENSE ${PROJECT_SOURCE_DIR}/README.md
              ${PROJECT_SOURCE_DIR}/CHANGELOG.md
        DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT documentation)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/docs DESTINATION ${CMAKE_INSTALL_DOCDIR}
        COMPONENT documentation)
if(TARGET tilewright_command)
  install(TARGETS tilewright_command RUNTIME COMPONENT command)
endif()
