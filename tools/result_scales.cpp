// SPDX-License-Identifier: Apache-2.0
// result_scales.cpp  A number, a file, or room for scales in the order of a library.
#include "tools/result_scales.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstring>

#include "tilewright/problem/reference.hpp"
#include "tools/io/refuse.hpp"
#include "tools/quantize_blocks.hpp"
#include "tools/scale_file.hpp"
#include "tools/words.hpp"

namespace tw {
namespace {

/// A text that is a number and nothing else.
std::optional<float> number_in(std::string const& text) {
  float x = 0;
  char const* const end = text.data() + text.size();
  auto const [at, error] = std::from_chars(text.data(), end, x);
  return error == std::errc() && at == end ? std::optional(x) : std::nullopt;
}

float given_scale(std::string const& text) {
  if (auto const x = number_in(text)) return *x;
  matrix_file const file(parse_address(text), scale_shapes);
  matrix_view const& m = file.view();
  if (m.rows * m.cols * m.matrices != 1)
    refuse("TW0616", "scale of D in " + text, fmt::format("{}x{} numbers", m.rows, m.cols),
           "one number for all of D", "amax-row and amax-1x128 compute scales of rows and blocks");
  if (m.doubles) {
    double x = 0;
    std::memcpy(&x, m.data, sizeof x);
    return static_cast<float>(x);
  }
  return static_cast<float>(load_element(m.desc(), m.data, 0, 0));
}

}  // namespace

CLI::Option* add_result_scale_options(CLI::App& verb, result_scale_request& r,
                                      std::string const& text) {
  CLI::Option* const scale = verb.add_option("--scale-d", r.text, text);
  verb.add_option_function<std::string>(
          "--scale-d-as",
          [&r](std::string const& text) { r.library = parse_scale_choice(text)->library.value(); },
          "library whose order they are stored in (default: torch)")
      ->transform(one_of({"torch", "cublaslt", "deepgemm", "flashinfer-mn", "flashinfer-k"}))
      ->needs(scale);
  verb.add_option_function<std::string>(
          "--scale-d-type",
          [&r](std::string const& text) {
            r.type = text == "ue8m0x4" ? elem::s32 : text == "ue8m0" ? elem::ue8m0 : elem::f32;
          },
          "f32 (default), ue8m0 in bytes, or ue8m0x4, four in an int32")
      ->transform(one_of({"f32", "ue8m0", "ue8m0x4"}))
      ->needs(scale);
  verb.add_flag("--scale-d-power-of-two", r.power_of_two,
                "they are powers of two, rounded up; ue8m0 needs it")
      ->needs(scale);
  return scale;
}

void add_result_scale_words(CLI::App& verb, result_scale_request& r) {
  add_result_scale_options(verb, r,
                           "D in 8 bits with scales: amax-row or amax-1x128, which are computed, "
                           "or `given`, one for all of D")
      ->check([](std::string const& text) {
        result_scale_request asked;
        asked.text = text;
        bool const known = asked.computed() || text == "given" || number_in(text).has_value();
        return known ? "" : text + ": need amax-row, amax-1x128, given or a number";
      });
}

matrix_address result_scale_address(result_scale_request const& r, matrix_address const& d) {
  if (r.out.empty() && d.format == file_format::stream)
    refuse("TW0612", "output " + d.text(), "a stream, which has one array",
           "a file for the scales: --scale-d-out FILE");
  return parse_address(r.out.empty() ? name_beside(d, ".scale") : r.out);
}

result_scales_data::result_scales_data(result_scale_request const& r, gemm_problem const& p) {
  if (!r.computed()) {
    desc_.given = true;
    bytes_ = host_buffer(bytes_of(type_, elements{1}));
    float const x = given_scale(r.text);
    std::memcpy(bytes_.data(), &x, sizeof x);
    return;
  }
  if (p.batch > 1)
    refuse("TW0458", "scales of D of a stack", fmt::format("{} matrices", p.batch), "a single one",
           "the C++ interface has a batch stride for them: output_scales::desc");
  scaled_operand const over{false, p.m, result_cols(p.epilogue, p.n)};
  convention_ = scales_to_write(over, r.kind(), r.library, r.type);
  desc_ = {convention_.desc, false, r.power_of_two};
  scale_tensor const& t = convention_.tensor;
  type_ = t.type;
  for (std::size_t i = 0; i < static_cast<std::size_t>(t.rank); ++i) count_ *= t.shape[i];
  bytes const size = bytes_of(type_, elements{count_});
  bytes_ = host_buffer(size);
  std::fill_n(bytes_.data(), size.count, std::byte{0});
}

std::string text_of(result_scales_data const& s, gemm_problem const& p) {
  if (s.desc().given) {
    float x = 0;
    std::memcpy(&x, s.data(), sizeof x);
    return fmt::format("given: {:.9g}", x);
  }
  return result_scale_text(s.desc(), p.m, result_cols(p.epilogue, p.n), p.batch);
}

}  // namespace tw
