# SPDX-License-Identifier: Apache-2.0
# What only our own targets need: the warnings that all of them build without, the compiler cache, and the folders.
# Errors under the presets, whose compilers and flags are tested; with others g++ may warn of what does not happen.
option(CUBBY_WERROR "Take warnings of our own targets for errors" OFF)
add_library(cubby_warnings INTERFACE)
target_compile_options(cubby_warnings INTERFACE -Wall -Wextra -Wconversion $<$<BOOL:${CUBBY_WERROR}>:-Werror>)
# Files that are joined into one unit share a scope that they do not share in the source.
target_compile_options(cubby_warnings INTERFACE $<$<NOT:$<BOOL:$<TARGET_PROPERTY:UNITY_BUILD>>>:-Wshadow>)

set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)

find_program(CCACHE_PROGRAM ccache)
mark_as_advanced(CCACHE_PROGRAM)
if(CCACHE_PROGRAM AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CCACHE_PROGRAM})
endif()

# Headers that nearly every file of a target includes, read once for all of them. It hides a missing #include, so only a build that
# has no time does it; the others see each file as it is.
option(CUBBY_PRECOMPILE "Precompile the headers that most files of the programs include" OFF)
function(cubby_precompile target)
  if(CUBBY_PRECOMPILE)
    target_precompile_headers(${target} PRIVATE <algorithm> <atomic> <bit> <filesystem> <functional> <map> <memory> <mutex> <optional>
                              <span> <string> <thread> <unordered_map> <vector> <cubby/map.hpp> ${ARGN})
  endif()
endfunction()
# For small programs with equal flags: the headers of the first of them.
function(cubby_precompile_once target first)
  if(CUBBY_PRECOMPILE AND NOT TARGET ${first})
    message(FATAL_ERROR "${first}, whose precompiled headers ${target} uses, comes first")
  elseif(CUBBY_PRECOMPILE AND NOT target STREQUAL first)
    target_precompile_headers(${target} REUSE_FROM ${first})
  else()
    cubby_precompile(${target})
  endif()
endfunction()

enable_testing()

# Tests replace operator new. clang's ThreadSanitizer allows that only as a shared library, which has to be found again.
if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang" AND CMAKE_CXX_FLAGS MATCHES "-fsanitize=thread")
  execute_process(COMMAND ${CMAKE_CXX_COMPILER} -print-file-name=libclang_rt.tsan-${CMAKE_SYSTEM_PROCESSOR}.so
                  OUTPUT_VARIABLE cubby_tsan_runtime OUTPUT_STRIP_TRAILING_WHITESPACE)
  get_filename_component(cubby_tsan_folder "${cubby_tsan_runtime}" DIRECTORY)
  add_link_options(-shared-libsan "-Wl,-rpath,${cubby_tsan_folder}")
endif()

if(CMAKE_CROSSCOMPILING)
  list(APPEND CMAKE_MODULE_PATH ${PROJECT_SOURCE_DIR}/cmake/cross)
endif()

if(CUBBY_BUILD_PROGRAMS)
  add_subdirectory(${PROJECT_SOURCE_DIR}/apps ${PROJECT_BINARY_DIR}/apps)
  add_subdirectory(${PROJECT_SOURCE_DIR}/bench ${PROJECT_BINARY_DIR}/bench)
endif()
if(CUBBY_BUILD_EXAMPLES)
  add_subdirectory(${PROJECT_SOURCE_DIR}/examples ${PROJECT_BINARY_DIR}/examples)
  set_property(DIRECTORY ${PROJECT_SOURCE_DIR}/examples PROPERTY LABELS example)
endif()
if(CUBBY_BUILD_TESTS)
  add_subdirectory(${PROJECT_SOURCE_DIR}/tests ${PROJECT_BINARY_DIR}/tests)
endif()
if(CUBBY_BUILD_FUZZ)
  add_subdirectory(${PROJECT_SOURCE_DIR}/fuzz ${PROJECT_BINARY_DIR}/fuzz)
endif()

# The tests instantiate the same tables in every file; joined, each is compiled once, in half the time. Debug builds keep
# the files apart, so that each is seen alone as well.
if(TARGET cubby_tests AND NOT CMAKE_BUILD_TYPE STREQUAL "Debug")
  set_target_properties(cubby_tests cubby_tests_in_place cubby_tests_of_the_lesson PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 6)
  if(CUBBY_TEST_THREADS_ONLY AND NOT CUBBY_TEST_MODES STREQUAL "all") # few files, of few tables: two units for two cores
    set_target_properties(cubby_tests PROPERTIES UNITY_BUILD_BATCH_SIZE 9)
  endif()
  set_target_properties(cubby_tests_of_engines PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 12)
  if(CMAKE_CROSSCOMPILING)
    set_target_properties(cubby_tests_core PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 16)
  endif()
  set_target_properties(cubby_tests_hooked cubby_tests_of_composed_calls cubby_tests_durable cubby_tests_crash cubby_explore
                        cubby_explorer_parts PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
  foreach(tests cubby_tests_hooked cubby_tests_of_composed_calls cubby_tests_of_engines cubby_tests_durable cubby_tests_crash
                cubby_explore cubby_counting cubby_tests_of_the_lesson)
    cubby_precompile(${tests} <gtest/gtest.h>)
  endforeach()
  # With g++, -O1 takes nearly twice as long to compile, and -O2 longer still, for tests that mostly wait for each other. Programs,
  # benches, counts and the explorer keep -O2. clang takes -Og as -O1.
  foreach(tests cubby_tests cubby_tests_in_place cubby_tests_of_composed_calls cubby_tests_of_engines cubby_tests_of_the_lesson
                cubby_tests_hooked cubby_tests_durable cubby_tests_crash cubby_tests_core)
    if(TARGET ${tests})
      target_compile_options(${tests} PRIVATE $<$<CONFIG:Release>:-Og>)
    endif()
  endforeach()
endif()
