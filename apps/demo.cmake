# SPDX-License-Identifier: Apache-2.0
# The program of `make demo`: the engines of the default run, with keys and values of 8 bytes and with texts. bench/build_kind.hpp says what
# it lacks. What is measured has the flags that it has in the whole program, and compiles in a fifth of the time.
add_executable(cubby_demo
  other_commands_of_demo.cpp
  bench/engines_of_demo.cpp
  bench/engine_boost.cpp
  bench/engine_cuckoo.cpp
  bench/engine_designs.cpp
  bench/engine_dlht.cpp
  bench/engine_dramhit.cpp
  bench/engine_dramhit_pipe.cpp
  bench/engine_iceberg.cpp
  bench/engine_lfht.cpp
  bench/engine_limit.cpp
  bench/engine_rcu.cpp
  bench/engine_reference.cpp
  bench/engine_tbb.cpp
  bench/engine_urcu.cpp
  bench/huge_mmap.cpp
  bench/options.cpp
  bench/table.cpp)
target_compile_definitions(cubby_demo PRIVATE CUBBY_DEMO_PROGRAM=1)
if(EXISTS ${rival_headers}/boost/version.hpp)
  target_include_directories(cubby_demo SYSTEM PRIVATE ${rival_headers})
endif()
target_link_libraries(cubby_demo PRIVATE cubby_bench cubby_kmer cubby::cubby TBB::tbb libcuckoo::libcuckoo CLI11::CLI11 fmt::fmt
                      nlohmann_json::nlohmann_json cubby_warnings)
set_target_properties(cubby_demo PROPERTIES OUTPUT_NAME cubby RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/demo)
