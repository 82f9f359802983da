// SPDX-License-Identifier: Apache-2.0
// says: this key would be compared by its bits, and its class has an operator==
#include <cubby/map.hpp>

enum class hour : int {};
bool operator==(hour a, hour b) { return static_cast<int>(a) % 12 == static_cast<int>(b) % 12; }
cubby::map<hour, int> meetings;
