// SPDX-License-Identifier: Apache-2.0
/// @file
/// cubby::relativistic: an engine whose lookups never wait, also while the table grows or shrinks.
/// The paper: Triplett, McKenney and Walpole, USENIX ATC 2011.
#pragma once

#include <cubby/detail/engines/relativistic/relativistic.hpp>
