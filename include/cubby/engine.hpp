// SPDX-License-Identifier: Apache-2.0
// The contract between engines, which map words to words, and the faces, which map types to words: options, outcomes, what an
// engine and a codec must have, and what a table can do with it.
#pragma once

#include <cubby/core/contract/capabilities.hpp>
#include <cubby/core/contract/codec.hpp>
#include <cubby/core/contract/engine.hpp>
#include <cubby/core/contract/options.hpp>
#include <cubby/core/contract/results.hpp>
#include <cubby/core/probe.hpp>
#include <cubby/core/registry.hpp>
#include <cubby/platform/entropy.hpp>
