// SPDX-License-Identifier: Apache-2.0
/// @file
/// cubby::iceberg: tables that are 85 to 95 per cent full, with entries that stay where they are.
/// The paper: IcebergHT, SIGMOD 2023.
#pragma once

#include <cubby/detail/engines/iceberg/iceberg.hpp>
