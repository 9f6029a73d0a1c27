// SPDX-License-Identifier: Apache-2.0
// laws.hpp  The laws of the algebra as predicates: for static_assert and for random layouts.
//
// composition_law(a, b, r) says whether r is right for composition(a, b), cell by cell, from the
// definitions alone (laws_meaning.hpp). docs/laws.md lists each operation with its law.
// Example:  static_assert(composition_law(a, b, composition(a, b)))    tests/law/examples_test.cpp
#pragma once

#include "tests/law/laws_algebra.hpp"
#include "tests/law/laws_modes.hpp"
#include "tests/law/laws_shapes.hpp"
#include "tests/law/laws_tiles.hpp"
#include "tilewright/layout/layout.hpp"
