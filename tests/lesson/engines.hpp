// SPDX-License-Identifier: Apache-2.0
// A list of one engine, the skeleton of docs/writing-an-engine.md, for the build that runs the conformance suite over it.
// The build copies the page's code into skeleton.hpp.
#pragma once

#include "engine_headers.hpp"
#include "skeleton.hpp"

#define CUBBY_FOR_EACH_ENGINE(X) X(lesson, records, shared, word_mode, named_text_mode)
