// SPDX-License-Identifier: Apache-2.0
/// @file
/// cubby::dramhit_tuples: dramhit for plain keys and values of at most 56 bytes together, which lie in the table.
/// The paper: DRAMHiT, EuroSys 2023, section 3.
#pragma once

#include <cubby/detail/engines/dramhit/dramhit.hpp>
