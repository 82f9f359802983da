// SPDX-License-Identifier: Apache-2.0
// How operations end: insert_outcome, change, computed, request and reply with outcome, table_stats, and what is thrown.
#pragma once

#include <cubby/detail/api/outcome.hpp>
#include <cubby/detail/platform/fail.hpp>
