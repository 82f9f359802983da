// SPDX-License-Identifier: Apache-2.0
// The contract between engines, which map words to words, and the API, which maps types to words. It defines options, outcomes,
// the members of an engine and of a codec, and the operations that a table has because of them.
#pragma once

#include <cubby/detail/core/contract/capabilities.hpp>
#include <cubby/detail/core/contract/codec.hpp>
#include <cubby/detail/core/contract/engine.hpp>
#include <cubby/detail/core/contract/options.hpp>
#include <cubby/detail/core/contract/results.hpp>
#include <cubby/detail/core/probe.hpp>
#include <cubby/detail/core/registry.hpp>
#include <cubby/detail/platform/entropy.hpp>
