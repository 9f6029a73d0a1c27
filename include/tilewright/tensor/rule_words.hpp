// SPDX-License-Identifier: Apache-2.0
// rule_words.hpp  The text of what tensors refuse at run time.
#pragma once

#include "tilewright/base/refusal.hpp"

namespace tw::detail {

inline constexpr int TW0152_address_is_not_aligned_as_promised = 152;
inline constexpr int TW0153_pitch_is_not_a_multiple_as_promised = 153;

inline constexpr refusal_words tensor_rule_words[] = {
    refusal_words{TW0152_address_is_not_aligned_as_promised, "address of a tensor", "{}",
                  "a multiple of {} bytes, as promised", "align the buffer, or promise less"},
    refusal_words{TW0153_pitch_is_not_a_multiple_as_promised, "pitch of a tensor in global memory",
                  "{} elements", "a multiple of {} elements, as promised",
                  "pad the rows, or promise less"},
};

inline void throw_tensor_refusal(int rule, std::int64_t got, std::int64_t need) {
  throw_refusal(tensor_rule_words, rule, got, need);
}

}  // namespace tw::detail
