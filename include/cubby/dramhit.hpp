// SPDX-License-Identifier: Apache-2.0
// cubby::dramhit: an engine for bulk work, with pipelines of requests that are answered in any order. DRAMHiT, EuroSys 2023.
#pragma once

#include <cubby/detail/engines/dramhit/dramhit.hpp>
