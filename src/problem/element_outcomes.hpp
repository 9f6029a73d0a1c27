// SPDX-License-Identifier: Apache-2.0
// element_outcomes.hpp  The two ends that plain and fused epilogues share: the accumulator, and D.
#pragma once

#include "problem/outcomes.hpp"
#include "tilewright/problem/error_bound.hpp"

namespace tw {

/// Possible values of the accumulator of one element; 0 with alpha = 0, as in BLAS.
outcomes accumulated(exact_sum const& x, bound_terms const& t);

/// y rounded to D's type.
expected_element rounded_to_output(outcomes const& y, bound_terms const& t);

}  // namespace tw
