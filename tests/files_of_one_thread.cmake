# SPDX-License-Identifier: Apache-2.0
# Files of tests in which the process never has a second thread, as found by counting calls of pthread_create in each test.
set(files_of_one_thread
  conformance/any_key.cpp conformance/api.cpp conformance/d_requests_of_sets.cpp conformance/in_place_callers.cpp
  conformance/namespaces.cpp conformance/views_of_keys.cpp iceberg/references.cpp linearizability/batches_test.cpp
  linearizability/checker_test.cpp linearizability/history_file_test.cpp regression/api_arguments_are_used_once.cpp
  regression/api_class_keys.cpp regression/api_destructors_that_call_their_map.cpp regression/api_keys_that_look_like_text.cpp
  regression/api_scan_through_migrations.cpp regression/api_throwing_copies.cpp regression/api_values_without_a_default.cpp
  regression/core_small_allocator_serves_on.cpp regression/dlht_automatic_shrink_frees.cpp
  regression/dlht_batch_of_texts_behind_links.cpp regression/dlht_huge_sizes.cpp regression/dlht_resize_from_a_callback.cpp
  regression/dramhit_throwing_pipelines.cpp regression/reference_huge_sizes.cpp seph/parts_of_a_bucket.cpp seph/refills.cpp unit/capabilities.cpp unit/codec.cpp
  unit/contract.cpp unit/contract_of_files.cpp unit/hash.cpp unit/retired_arrays.cpp unit/simd.cpp unit/tuples.cpp)
