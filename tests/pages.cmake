# SPDX-License-Identifier: Apache-2.0
# The code on pages below docs, as tests.

# The blocks of pages below docs, copied out of them into headers: those that begin with `fence`.
function(cubby_copy_blocks fence prefix blocks)
  foreach(page ${ARGN})
    string(REPLACE "/" "_" header ${prefix}${page}.hpp)
    set(text ${PROJECT_SOURCE_DIR}/docs/${page}.md)
    add_custom_command(OUTPUT ${header} DEPENDS ${text} VERBATIM
                       COMMAND sed -n "/^```${fence}/,/^```/{/^```/!p}" ${text} > ${header})
    list(APPEND copied ${CMAKE_CURRENT_BINARY_DIR}/${header})
  endforeach()
  set(${blocks} ${copied} PARENT_SCOPE)
endfunction()
# The blocks of C++ of pages: each page is the body of a test in `unit`.
function(cubby_add_tests_of_pages name unit)
  cubby_copy_blocks(cpp "" blocks ${ARGN})
  cubby_add_tests(${name} ${unit} ${blocks})
  target_compile_options(${name} PRIVATE -UCUBBY_TABLE_SEED)
  target_include_directories(${name} PRIVATE ${CMAKE_CURRENT_BINARY_DIR})
endfunction()
cubby_add_tests_of_pages(cubby_tests_of_the_migration migration/pages.cpp
  migration/boost migration/folly migration/libcuckoo migration/phmap migration/std migration/tbb)
# The blocks of other maps on these pages, of those that are installed or unpacked (tools/unpack_rivals.sh).
find_package(TBB QUIET)
find_package(libcuckoo QUIET)
set(unpacked ${PROJECT_SOURCE_DIR}/build/rivals/usr/include)
if(TARGET TBB::tbb AND TARGET libcuckoo::libcuckoo)
  cubby_copy_blocks(c++ theirs_ blocks migration/boost migration/libcuckoo migration/phmap migration/std migration/tbb)
  set(units migration/rivals.cpp)
  if(EXISTS ${unpacked}/boost/unordered/concurrent_flat_map.hpp)
    list(APPEND units migration/rival_boost.cpp)
  endif()
  if(EXISTS ${unpacked}/parallel_hashmap/phmap.h)
    list(APPEND units migration/rival_phmap.cpp)
  endif()
  cubby_add_tests(cubby_tests_of_the_rivals ${units} ${blocks})
  target_include_directories(cubby_tests_of_the_rivals PRIVATE ${CMAKE_CURRENT_BINARY_DIR})
  target_include_directories(cubby_tests_of_the_rivals SYSTEM PRIVATE ${unpacked})
  target_link_libraries(cubby_tests_of_the_rivals PRIVATE TBB::tbb libcuckoo::libcuckoo)
endif()
