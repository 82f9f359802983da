// SPDX-License-Identifier: Apache-2.0
/// @file
/// cubby::iceberg: nearly full tables, with entries that stay where they are.
/// The paper: IcebergHT, SIGMOD 2023.
#pragma once

#include <cubby/detail/engines/iceberg/iceberg.hpp>
