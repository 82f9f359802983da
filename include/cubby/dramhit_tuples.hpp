// SPDX-License-Identifier: Apache-2.0
// cubby::dramhit_tuples: dramhit for plain keys and values of up to 56 bytes together, which lie in the table. DRAMHiT, EuroSys 2023.
#pragma once

#include <cubby/detail/engines/dramhit/dramhit.hpp>
