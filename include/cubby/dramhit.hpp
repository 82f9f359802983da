// SPDX-License-Identifier: Apache-2.0
/// @file
/// cubby::dramhit: an engine for bulk work, with pipelines whose requests are answered in any order.
/// The paper: DRAMHiT, EuroSys 2023.
#pragma once

#include <cubby/detail/engines/dramhit/dramhit.hpp>
