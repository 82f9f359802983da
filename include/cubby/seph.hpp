// SPDX-License-Identifier: Apache-2.0
/// @file
/// cubby::seph: tables that grow by small splits, with an even latency of inserts. The paper: SEPH, OSDI 2023.
#pragma once

#include <cubby/detail/engines/seph/seph.hpp>
