// SPDX-License-Identifier: Apache-2.0
// The contract between engines, which map words to words, and the APIs, which map types to words: options, outcomes, what an
// engine and a codec must have, and what a table can do with it.
#pragma once

#include <cubby/detail/core/contract/capabilities.hpp>
#include <cubby/detail/core/contract/codec.hpp>
#include <cubby/detail/core/contract/engine.hpp>
#include <cubby/detail/core/contract/options.hpp>
#include <cubby/detail/core/contract/results.hpp>
#include <cubby/detail/core/probe.hpp>
#include <cubby/detail/core/registry.hpp>
#include <cubby/detail/platform/entropy.hpp>
