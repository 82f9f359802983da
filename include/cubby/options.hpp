// SPDX-License-Identifier: Apache-2.0
/// @file
/// cubby::options, which every table takes; the policies of growth and shrinking; and random_seed.
#pragma once

#include <cubby/detail/core/contract/options.hpp>
#include <cubby/detail/platform/entropy.hpp>
