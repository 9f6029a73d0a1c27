// SPDX-License-Identifier: Apache-2.0
// model_report.hpp  The plans of a transformer: its configuration read, the answer as text and as
//                   JSON ("tilewright.model_plan/1").
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "tilewright/dispatch/model_plan.hpp"

namespace tw {

/// The extents that a configuration in the form of Hugging Face's config.json has. Of a model with
/// several parts it takes "text_config". Throws `rejected` TW0484: not JSON, or an extent is
/// missing or not a positive integer.
model_shape model_shape_of(std::string const& config_json);

/// "tokens", "formats", "tp" and "device" of a request; without a member its default, the H200.
/// Throws `rejected` TW0484: not JSON, an unknown member, or a member of another type.
struct model_question {
  model_request request;
  std::string device = "h200";
};
model_question model_question_of(std::string const& request_json);

/// A table, then the time of all layers for each number of tokens and format.
std::string model_text(model_plan const& p, device const& dev);
/// words: names options or arguments in refusals (report/field_words.hpp).
nlohmann::ordered_json model_json(model_plan const& p, device const& dev,
                                  rejection (*words)(rejection));

}  // namespace tw
