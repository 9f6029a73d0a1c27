// SPDX-License-Identifier: Apache-2.0
// model_plan.cpp  Shapes of a layer, words of a format, a plan for each.
#include "tilewright/dispatch/model_plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "tilewright/base/elem_text.hpp"
#include "tilewright/base/elem_traits.hpp"
#include "tilewright/dispatch/gemm.hpp"
#include "tilewright/problem/block_format.hpp"
#include "tilewright/problem/block_scale_convention.hpp"
#include "tilewright/problem/scale_convention.hpp"

namespace tw {
namespace {

[[noreturn]] void refuse_model(char const* what, std::string got, std::string need,
                               std::string hint = "") {
  throw rejected({"TW0484", what, std::move(got), std::move(need), std::move(hint)});
}

void check_extent(char const* name, std::int64_t value) {
  if (value < 1) refuse_model(name, fmt::format("{}", value), "a positive integer");
}

std::int64_t divided_by_tp(std::int64_t value, std::int64_t tp, char const* name) {
  if (value % tp != 0)
    refuse_model("tp", fmt::format("{}", tp), fmt::format("a divisor of {}, {}", name, value));
  return value / tp;
}

/// The parts of "e4m3:1x128".
struct format_words {
  elem type = elem::bf16;
  std::optional<block_format> blocks = {};
  std::optional<scaling> scales = {};
};

format_words read_format(std::string_view text) {
  format_words f;
  for (block_format const b : {block_format::mxfp8, block_format::mxfp4, block_format::nvfp4})
    if (text == traits_of(b).name) {
      f.blocks = b, f.type = traits_of(b).value;
      return f;
    }
  std::string_view const type = text.substr(0, text.find(':'));
  auto const known = parse_elem(type);
  if (known) f.type = *known;
  bool good = known.has_value();
  if (type.size() < text.size()) {
    std::optional<scale_choice> const choice =
        parse_scale_choice(std::string(text.substr(type.size() + 1)));
    good = good && choice && choice->kind && !choice->library;
    if (good) f.scales = *choice->kind;
  }
  if (!good)
    refuse_model("format", std::string(text),
                 "a type, a type with its scaling, or a block-scaled format",
                 "bf16, e4m3:1x128, e4m3:row, mxfp8, mxfp4, nvfp4");
  return f;
}

elem result_type(format_words const& f) {
  return f.blocks || f.scales ? elem::bf16 : usual_result(f.type);
}

}  // namespace

double model_row::tflops() const {
  return 2e-6 * static_cast<double>(tokens) * static_cast<double>(gemm.n) *
         static_cast<double>(gemm.k) / plan.predicted_us;
}

double model_plan::us(std::int64_t tokens, std::string_view format) const {
  double sum = 0;
  for (model_row const& r : rows)
    if (r.tokens == tokens && r.format == format) sum += r.plan.predicted_us;
  if (sum == 0)
    refuse_model("tokens and format", fmt::format("{}, {}", tokens, format), "the values of a row");
  return static_cast<double>(layers) * sum;
}

std::vector<model_gemm> layer_gemms(model_shape const& model, std::int64_t tp) {
  check_extent("hidden_size", model.hidden);
  check_extent("intermediate_size", model.intermediate);
  check_extent("num_attention_heads", model.heads);
  check_extent("tp", tp);
  std::int64_t const kv = model.kv_heads > 0 ? model.kv_heads : model.heads;
  std::int64_t const head = model.head_size > 0 ? model.head_size : model.hidden / model.heads;
  check_extent("head_dim", head);
  std::int64_t const own = divided_by_tp(model.heads, tp, "num_attention_heads");
  // With more GPUs than heads of K and V, GPUs share a head.
  std::int64_t const own_kv = tp % kv == 0 ? 1 : divided_by_tp(kv, tp, "num_key_value_heads");
  std::int64_t const columns = divided_by_tp(model.intermediate, tp, "intermediate_size");
  return {{"qkv", (own + 2 * own_kv) * head, model.hidden},
          {"o", model.hidden, own * head},
          {"gate_up", 2 * columns, model.hidden, true},
          {"down", model.hidden, columns}};
}

gemm_problem problem_of(model_gemm const& gemm, std::int64_t tokens, std::string_view format) {
  format_words const f = read_format(format);
  gemm_problem p;
  p.m = tokens, p.n = gemm.n, p.k = gemm.k;
  if (gemm.gated) p.epilogue.act = activation::silu, p.epilogue.gate = gating::split;
  p.a = {f.type, order::row_major, gemm.k};
  p.b = {f.type, order::col_major, gemm.k};
  p.d = {result_type(f), order::row_major, result_cols(p.epilogue, gemm.n)};
  p.epilogue.bias.type = p.d.type;
  scaled_operand const a{false, tokens, gemm.k, 1}, b{true, gemm.n, gemm.k, 1};
  if (f.blocks) {
    p.scale_a = make_block_scale(a, *f.blocks);
    p.scale_b = make_block_scale(b, *f.blocks);
  } else if (f.scales) {
    p.scale_a = make_scale(a, *f.scales);
    p.scale_b =
        make_scale(b, *f.scales == scaling::block_1x128 ? scaling::block_128x128 : *f.scales);
  }
  return p;
}

model_plan plan_model(model_shape const& model, model_request const& request, device const& dev) {
  check_extent("num_hidden_layers", model.layers);
  for (std::int64_t const t : request.tokens) check_extent("tokens", t);
  void* const aligned = reinterpret_cast<void*>(std::uintptr_t{0x100000});  // never followed
  model_plan made;
  made.layers = model.layers;
  std::vector<model_gemm> const gemms = layer_gemms(model, request.tp);
  for (std::string const& format : request.formats) try {
      std::vector<model_row> rows;
      for (model_gemm const& g : gemms)
        for (std::int64_t const tokens : request.tokens) {
          gemm_problem const p = problem_of(g, tokens, format);
          gemm_operands o{aligned, aligned, nullptr, aligned};
          o.workspace = aligned;
          o.workspace_bytes = gemm_workspace_bytes(p, o, dev);
          rows.push_back({g, tokens, format, plan_gemm(p, o, dev)});
        }
      made.rows.insert(made.rows.end(), rows.begin(), rows.end());
    } catch (rejected const& why) {
      if (why.why().code != "TW0471" && why.why().code != "TW0505") throw;
      made.left_out.emplace_back(format, why.why());
    }
  return made;
}

}  // namespace tw
