// SPDX-License-Identifier: Apache-2.0
/// @file
/// The results of operations: outcome, change, computed, request and reply, table_stats, and the exceptions.
#pragma once

#include <cubby/detail/api/outcome.hpp>
#include <cubby/detail/platform/fail.hpp>
