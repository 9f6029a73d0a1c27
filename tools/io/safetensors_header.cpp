// SPDX-License-Identifier: Apache-2.0
// safetensors_header.cpp  One pass over the JSON, by events: no tree is built, so that neither deep
// nesting nor a key given twice gets through.
#include "tools/io/safetensors_header.hpp"

#include <fmt/format.h>

#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>
#include <set>

#include "tools/io/in_quotes.hpp"
#include "tools/io/refuse.hpp"

namespace tw {
namespace {

using unordered_json = nlohmann::json;

/// Where in the header the reader is, and what may come next there.
enum class place { start, tensors, tensor, dtype, shape, offsets, metadata, done };

class header_events : public nlohmann::json_sax<unordered_json> {
 public:
  explicit header_events(std::string const& file) : file_(file) {}
  std::vector<tensor_entry> take() { return std::move(tensors_); }

  bool start_object(std::size_t) override {
    if (at_ == place::start) return go(place::tensors);
    if (at_ == place::tensors) {
      fields_.clear();
      return go(in_metadata_ ? place::metadata : place::tensor);
    }
    fail("an object");
  }

  bool key(string_t& text) override {
    if (at_ == place::tensors) {
      if (!names_.insert(text).second) fail("the key " + in_quotes(text) + " twice");
      name_ = text;
      in_metadata_ = text == "__metadata__";
      if (!in_metadata_) tensors_.push_back({text, {}, {}, 0, 0});
      return true;
    }
    if (!fields_.insert(text).second) fail("the key " + in_quotes(text) + " twice");
    if (at_ == place::metadata) return true;
    if (text == "dtype") return go(place::dtype);
    if (text == "shape") return go(place::shape);
    if (text == "data_offsets") return go(place::offsets);
    fail("the key " + in_quotes(text));
  }

  bool end_object() override {
    if (at_ == place::tensors) return go(place::done);
    if (at_ == place::metadata) return go(place::tensors);
    if (fields_.size() != 3) fail(fmt::format("{} of its 3 fields", fields_.size()));
    return go(place::tensors);
  }

  bool start_array(std::size_t) override {
    bool const due = (at_ == place::shape || at_ == place::offsets) && !in_array_;
    if (!due) fail("an array");
    return in_array_ = true;
  }
  bool end_array() override {
    in_array_ = false;
    if (at_ == place::offsets && offsets_.size() != 2) {
      fail(fmt::format("{} offsets", offsets_.size()));
    }
    if (at_ == place::offsets) {
      tensors_.back().begin_bytes = offsets_[0];
      tensors_.back().end_bytes = offsets_[1];
      offsets_.clear();
    }
    return go(place::tensor);
  }

  bool number_unsigned(number_unsigned_t n) override {
    if (!in_array_) fail(fmt::format("the number {}", n));
    if (n > static_cast<number_unsigned_t>(std::numeric_limits<std::int64_t>::max())) {
      fail(fmt::format("the number {}", n));
    }
    auto& list = at_ == place::shape ? tensors_.back().shape : offsets_;
    list.push_back(static_cast<std::int64_t>(n));
    return true;
  }
  bool number_integer(number_integer_t n) override { fail(fmt::format("the number {}", n)); }
  bool number_float(number_float_t, string_t const& s) override { fail("the number " + s); }
  bool null() override { fail("null"); }
  bool boolean(bool) override { fail("a boolean"); }
  bool binary(binary_t&) override { fail("binary data"); }

  bool string(string_t& text) override {
    if (at_ == place::metadata) return true;
    if (at_ != place::dtype) fail("the text " + in_quotes(text));
    tensors_.back().dtype = text;
    return go(place::tensor);
  }

  bool parse_error(std::size_t position, std::string const&,
                   nlohmann::detail::exception const&) override {
    refuse("TW0608", "header of " + file_, fmt::format("no valid JSON at byte {}", position),
           "a JSON object", "the file is corrupt");
  }

 private:
  bool go(place next) {
    at_ = next;
    return true;
  }
  [[noreturn]] void fail(std::string got) const {
    std::string what = "header of " + file_;
    if (!name_.empty()) what += ", at " + in_quotes(name_);
    refuse("TW0608", std::move(what), std::move(got),
           "{name: {\"dtype\": text, \"shape\": [extents], \"data_offsets\": [begin, end]}}, "
           "each key once",
           "the file is corrupt");
  }

  std::string const& file_;
  place at_ = place::start;
  bool in_metadata_ = false, in_array_ = false;
  std::string name_;
  std::set<std::string> names_, fields_;
  std::vector<std::int64_t> offsets_;
  std::vector<tensor_entry> tensors_;
};

}  // namespace

std::vector<tensor_entry> parse_safetensors_header(std::string_view text, std::string const& file) {
  // The JSON parser takes a NUL for the end of its input.
  if (std::size_t const nul = text.find('\0'); nul != std::string_view::npos)
    refuse("TW0608", "header of " + file, fmt::format("a NUL at byte {}", nul), "a JSON object",
           "the file is corrupt");
  // It would skip a byte order mark, which other readers of the format refuse.
  if (text.starts_with("\xEF\xBB\xBF"))
    refuse("TW0608", "header of " + file, "a byte order mark", "a JSON object, which begins with {",
           "the file is corrupt");
  header_events events(file);
  unordered_json::sax_parse(text.begin(), text.end(), &events);
  return events.take();
}

}  // namespace tw
