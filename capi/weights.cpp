// SPDX-License-Identifier: Apache-2.0
// weights.cpp  Prepared 4-bit weights: from the tensors of a checkpoint, or of a matrix that is
//              quantised; the record of a header.
#include <fmt/format.h>

#include <cmath>
#include <cstddef>
#include <cstring>
#include <memory>
#include <new>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "capi/arguments.hpp"
#include "capi/errors.hpp"
#include "dispatch/tensors/read_tensor.hpp"
#include "tilewright/base/convert.hpp"
#include "tilewright/kernel/weights/weight_checkpoint.hpp"
#include "tilewright/kernel/weights/weight_quantize.hpp"

namespace tw::capi {
namespace {

constexpr std::align_val_t alignment{64};
struct aligned_delete {
  void operator()(std::byte* p) const { ::operator delete(p, alignment); }
};

}  // namespace
}  // namespace tw::capi

struct tw_weights {
  tw::weights_desc desc;
  tw::weight_counts counts;
  std::string layout;
  std::unique_ptr<std::byte[], tw::capi::aligned_delete> data;
};

namespace tw::capi {
namespace {

/// A tensor of host memory in C order.
checkpoint_tensor checkpoint_tensor_of(DLTensor const* given, char const* argument) {
  check_given(argument, given);
  tensor_argument const t = tensor_of(*given, argument);
  if (!t.place.is_host())
    refuse_argument("TW0485", fmt::format("device of {}", argument), "a GPU", "host memory",
                    "weights are prepared on the host, and copied to the GPU then");
  checkpoint_tensor x;
  x.type = element_type(t.type, argument);
  x.data = t.data;
  std::int64_t dense = 1;
  for (int i = t.rank - 1; i >= 0; --i) {
    if (t.shape[i] < 0)
      refuse_argument("TW0481", fmt::format("shape of {}", argument), list_text(t.shape, t.rank),
                      "no negative extent");
    if (t.shape[i] > 1 && stride_of(t, i) != dense)
      refuse_argument("TW0482", fmt::format("strides of {}", argument),
                      list_text(t.strides, t.rank), "C order", "copy it first");
    dense *= t.shape[i];
  }
  if (t.data == nullptr && dense != 0)
    check_given(fmt::format("{}.data", argument).c_str(), nullptr);
  x.shape.assign(t.shape, t.shape + t.rank);
  return x;
}

std::optional<elem> scale_type_of_word(char const* text) {
  if (text == nullptr) return std::nullopt;
  std::string_view const word = text;
  if (word == "bfloat16" || word == "bf16") return elem::bf16;
  if (word == "float16" || word == "f16") return elem::f16;
  refuse_argument("TW0486", "scales_to", text, "bfloat16 or float16");
}

/// Elements of f32, f16 or bf16 as float32.
std::vector<float> as_float32(checkpoint_tensor const& x) {
  std::int64_t count = 1;
  for (std::int64_t const extent : x.shape) count *= extent;
  std::vector<float> all(static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (x.type == elem::f32) all[i] = static_cast<float const*>(x.data)[i];
    if (x.type == elem::f16) all[i] = to_float(static_cast<f16 const*>(x.data)[i]);
    if (x.type == elem::bf16) all[i] = to_float(static_cast<bf16 const*>(x.data)[i]);
  }
  return all;
}

/// A matrix (n, k), or several, quantised to int4: two weights in each byte.
checkpoint_weights quantised(tw_weights_args const& args) {
  if (word(args.to) != "int4")
    refuse_argument("TW0486", "to", args.to, "int4",
                    "weights of mxfp4 and nvfp4: quantise them with the order linear");
  for (auto const& [name, tensor] :
       {std::pair{"scales", args.scales}, std::pair{"zeros", args.zeros},
        std::pair{"second", args.second}})
    if (tensor != nullptr)
      refuse_argument("TW0484", name, "given", "not given: the values are quantised");
  checkpoint_tensor const x = checkpoint_tensor_of(args.values, "values");
  if (x.shape.size() != 2 && x.shape.size() != 3)
    refuse_argument("TW0481", "dimensions of values", fmt::format("{}", x.shape.size()),
                    "2: weights (n, k); or 3 with the experts in front");
  if (x.type != elem::f32 && x.type != elem::f16 && x.type != elem::bf16)
    refuse_argument("TW0483", "type of values", name(x.type), "float32, float16 or bfloat16");
  if (args.group < -1)
    refuse_argument("TW0486", "group", fmt::format("{}", args.group),
                    "16, 32, a multiple of 64, -1");
  constexpr int usual_group = 128;
  int const group = args.group == 0 ? usual_group : args.group == -1 ? 0 : args.group;
  elem const scale =
      scale_type_of_word(args.scales_to).value_or(x.type == elem::f16 ? elem::f16 : elem::bf16);
  bool const several = x.shape.size() == 3;
  std::int64_t const matrices = several ? x.shape[0] : 1, n = x.shape[several ? 1 : 0];
  int4_weights const q =
      quantize_to_int4(as_float32(x).data(), matrices * n, x.shape.back(), group, scale);
  checkpoint_tensors t;
  t.values = {elem::s8, {matrices, n, q.k / 2}, q.values.data()};
  t.scales = {scale, {matrices, n, q.groups()}, q.scales.data()};
  return read_checkpoint(t);
}

checkpoint_weights from_checkpoint(tw_weights_args const& args) {
  checkpoint_tensors t;
  t.values = checkpoint_tensor_of(args.values, "values");
  t.scales = checkpoint_tensor_of(args.scales, "scales");
  if (args.zeros != nullptr) t.zeros = checkpoint_tensor_of(args.zeros, "zeros");
  if (args.second != nullptr) t.second = checkpoint_tensor_of(args.second, "second");
  if (args.order != nullptr) t.order = checkpoint_tensor_of(args.order, "order");
  checkpoint_options o;
  o.second_is_reciprocal = (args.flags & TW_SECOND_IS_RECIPROCAL) != 0;
  o.gptq_version = (args.flags & TW_GPTQ_V2) != 0 ? 2 : 1;
  o.scale = scale_type_of_word(args.scales_to);
  return read_checkpoint(t, o);
}

std::unique_ptr<tw_weights> made(tw_weights_args const& args) {
  constexpr unsigned gates = TW_SPLIT_GATE | TW_INTERLEAVED_GATE;
  constexpr unsigned known = TW_SECOND_IS_RECIPROCAL | TW_GPTQ_V2 | gates | TW_FOR_E4M3;
  if ((args.flags & ~known) != 0)
    refuse_argument("TW0486", "flags", fmt::format("{:#x}", args.flags),
                    "TW_SECOND_IS_RECIPROCAL, TW_GPTQ_V2, TW_SPLIT_GATE, TW_INTERLEAVED_GATE, "
                    "TW_FOR_E4M3");
  if ((args.flags & gates) == gates)
    refuse_argument("TW0486", "flags", "TW_SPLIT_GATE and TW_INTERLEAVED_GATE", "one of them");
  bool const for_e4m3 = (args.flags & TW_FOR_E4M3) != 0;
  if (for_e4m3 && args.scales_to != nullptr)
    refuse_argument("TW0484", "scales_to", args.scales_to,
                    "not given for activations of e4m3: their factors are float32");
  checkpoint_weights const c = args.to != nullptr ? quantised(args) : from_checkpoint(args);
  auto w = std::make_unique<tw_weights>();
  w->desc = c.desc;
  w->desc.format.gate = (args.flags & TW_SPLIT_GATE) != 0         ? gating::split
                        : (args.flags & TW_INTERLEAVED_GATE) != 0 ? gating::interleaved
                                                                  : gating::none;
  w->desc.format.fp8 = for_e4m3;
  if (for_e4m3 && w->desc.format.code == weight_code::int4) w->desc.format.scale = elem::f32;
  w->layout = args.to != nullptr ? "quantised" : c.layout;
  auto const bytes = static_cast<std::size_t>(w->desc.bytes());
  w->data.reset(static_cast<std::byte*>(::operator new(bytes, alignment)));
  w->counts = prepare_weights(w->desc, c.rows(), w->data.get());
  return w;
}

nlohmann::ordered_json record_of(weights_desc const& w) {
  return {{"schema", "tilewright.weights/1"},
          {"format", name(w.format.code)},
          {"group", w.format.group},
          {"scale_dtype", name(w.format.scale)},
          {"zeros", name(w.format.zeros)},
          {"matrices", w.matrices},
          {"n", w.n},
          {"k", w.k},
          {"factor", w.factor},
          {"gate", w.format.gate == gating::none    ? "none"
                   : w.format.gate == gating::split ? "split"
                                                    : "interleaved"},
          {"activations", w.format.fp8 ? "e4m3" : "16 bits"},
          {"bytes", w.bytes()}};
}

}  // namespace
}  // namespace tw::capi

extern "C" {

tw_status tw_weights_make(tw_weights_args const* args, tw_weights** weights) {
  return tw::capi::guarded([&] {
    tw::capi::check_given("weights", weights);
    *weights = nullptr;
    *weights = tw::capi::made(tw::capi::own_copy("tw_weights_args", args)).release();
  });
}

void const* tw_weights_data(tw_weights const* weights) {
  return weights == nullptr ? nullptr : weights->data.get();
}

int64_t tw_weights_bytes(tw_weights const* weights) {
  return weights == nullptr ? 0 : weights->desc.bytes();
}

tw_status tw_weights_json(tw_weights const* weights, char** json) {
  return tw::capi::guarded([&] {
    tw::capi::check_given("json", json);
    *json = nullptr;
    tw::capi::check_given("weights", weights);
    nlohmann::ordered_json record = tw::capi::record_of(weights->desc);
    record["layout"] = weights->layout;
    record["rounded_scales"] = weights->counts.rounded;
    record["nan_scales"] = weights->counts.nan_scales;
    if (weights->desc.format.fp8) {
      record["parts"] = weights->counts.parts;
      record["rounded_parts"] = weights->counts.rounded_parts;
      record["largest_error"] = weights->counts.largest_error;
    }
    *json = tw::capi::text_for_caller(record.dump());
  });
}

tw_status tw_weights_describe(void const* weights_b, int64_t bytes, char** json) {
  return tw::capi::guarded([&] {
    tw::capi::check_given("json", json);
    *json = nullptr;
    tw::capi::check_given("weights_b", weights_b);
    auto const* const header = static_cast<std::byte const*>(weights_b);
    auto const w = tw::read_weights_header({header, tw::weights_header_bytes}, bytes);
    *json = tw::capi::text_for_caller(tw::capi::record_of(w).dump());
  });
}

void tw_weights_free(tw_weights* weights) { delete weights; }

}  // extern "C"
