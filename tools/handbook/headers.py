# SPDX-License-Identifier: Apache-2.0
# Which classes and free names a public header brings, and which pages of docs/api describe their calls. A public function that none
# of these pages has in a table is an error of the build, and so is a row of a call that does not exist.
TABLE = ["lookups", "inserts", "get-or-create", "changes", "erases", "batches", "scans", "contents", "space", "handles",
         "reservations", "coroutines", "pipelines"]
DETAIL = "cubby::detail::"
SHARED = [DETAIL + "contents_api", DETAIL + "scan_api", DETAIL + "table_api", "cubby::handle", "cubby::reservation"]

# header: (classes, pages with the tables of their calls)
HEADERS = {
    "map": (["cubby::map", DETAIL + "map_api", DETAIL + "get_or_create_api", DETAIL + "moved_key_api", *SHARED], TABLE),
    "set": (["cubby::set", DETAIL + "set_api", *SHARED], TABLE),
    "durable_map": (["cubby::durable_map", "cubby::durable_set", DETAIL + "durable_table", "cubby::opened", "cubby::durable_options",
                     "cubby::recovered", "cubby::checked", "cubby::durable_stats"], ["durable", *TABLE]),
    "in_place_map": (["cubby::in_place_map", "cubby::in_place_handle", DETAIL + "in_place_api", DETAIL + "in_place_inserts"], ["in-place"]),
    "delegated_map": (["cubby::delegated_map", DETAIL + "delegated_reads", "cubby::delegated_handle"], ["delegated"]),
    "pipeline": (["cubby::pipeline< Engine, Sink, Key >", "cubby::pipeline_options"], ["pipelines"]),
    "coro": (["cubby::task", "cubby::round_robin"], ["coroutines"]),
    "rcu": (["cubby::rcu::read_section", "cubby::rcu::grace_period", "cubby::rcu::reader_backoff", DETAIL + "retire_bag"], ["rcu"]),
    "options": (["cubby::options"], []),
    "results": (["cubby::computed", "cubby::request", "cubby::reply", "cubby::table_stats", "cubby::table_full",
                 "cubby::table_crowded", "cubby::bad_namespace", "cubby::self_deadlock"], []),
    "hash": (["cubby::hash< K >"], []),
    "dlht": (["cubby::dlht", DETAIL + "engines::dlht::index_options", DETAIL + "engines::dlht::table_stats"], []),
    "dramhit": (["cubby::dramhit", DETAIL + "engines::dramhit::move_options"], []),
    "dramhit_tuples": (["cubby::dramhit_tuples", DETAIL + "engines::dramhit::move_options"], []),
    "iceberg": (["cubby::iceberg", "cubby::iceberg_wide", DETAIL + "engines::iceberg::resize_options", DETAIL + "engines::iceberg::table_stats"], []),
    "relativistic": (["cubby::relativistic", DETAIL + "engines::relativistic::resize_options"], []),
    "seph": (["cubby::seph", DETAIL + "engines::seph::segment_options", DETAIL + "engines::seph::table_stats"], []),
    "reference": (["cubby::reference"], []),
    "pmr": ([], []),
    "execution": ([], []),
    "version": ([], []),
}

# Classes that a header also brings, and whose functions are in no table.
PLAIN = {
    "map": ["cubby::threads", "cubby::on", "cubby::snapshot_list", "cubby::in_namespace", "cubby::capability_set"],
    "coro": ["cubby::async_lookup"],
    "delegated_map": ["cubby::partitioned"],
    "dlht": ["cubby::dlht_single", "cubby::dlht_counted", "cubby::chain_histogram"],
    "hash": ["cubby::modulo_hash", "cubby::equal"],
}

# Enumerations and functions of namespaces, by header.
FREE = {
    "options": ["growth_policy", "shrink_policy", "random_seed", "own_seed"],
    "results": ["requested", "outcome", "change", "verb", "batch_policy", "action"],
    "hash": ["mix", "hash_bytes", "hash_parts", "bits_are_equality", "bin_mapping"],
    "map": ["storage_mode", "mode_of", "namespace_count", "stored_as_bytes", "always_in_record", "adds_in_place"],
    "pmr": ["map", "set", "in_place_map"],
    "version": ["version_text"],
    "durable_map": ["survive", "opening", "open_error", "persistence"],
    "rcu": ["waited", "synchronize"],
}

# Public for the library's own parts, not for users.
NOT_FOR_USERS = {"context", "own_thread_record", "table_api", "await_ready", "durable_table"}
