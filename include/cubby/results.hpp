// SPDX-License-Identifier: Apache-2.0
// How operations end: outcome, change, computed, request and reply, table_stats, and what is thrown.
#pragma once

#include <cubby/detail/api/outcome.hpp>
#include <cubby/detail/platform/fail.hpp>
