// SPDX-License-Identifier: Apache-2.0
// slices.hpp  The slices of a timeline: the words of one, and their order.
#pragma once

#include "emu/machine/trace_log.hpp"

namespace tw::emu {

/// An event of a thread as a slice: its kind, name, detail and number, without row and times.
trace_slice slice_of(trace_log const& log, trace_event const& e);

/// Slices by row and time; where threads of one row went different ways at the same time, the
/// later begun moves to a separate row below.
void sort_rows(timeline& t);

}  // namespace tw::emu
