// SPDX-License-Identifier: Apache-2.0
// safetensors_test.cpp  Files of the reference writer are read; what its reader refuses is refused.
#include "tools/io/safetensors.hpp"

#include "tests/tools/support.hpp"
#include "tools/io/matrix_file.hpp"

namespace {

using namespace tw;
using namespace tw_test;

std::string safetensors_of(std::string const& header, std::size_t data_bytes) {
  std::string file;
  for (int i = 0; i < 8; ++i) file.push_back(static_cast<char>(header.size() >> (8 * i) & 0xFF));
  return file + header + std::string(data_bytes, '\0');
}

rejection refused_tensor(std::string const& file, std::string const& tensor = "x") {
  return rejection_of([&] { view_safetensors(bytes_of_text(file), "f", tensor); });
}

void expect_the_tensor(std::string const& address, elem type) {
  SCOPED_TRACE(address);
  matrix_file const file(parse_address(data_file(address)));
  matrix_view const& m = file.view();
  ASSERT_EQ(text_of(m.type, m.rows, m.cols), text_of(type, 3, 5));
  EXPECT_EQ(m.ord, order::row_major);
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 5; ++j) EXPECT_EQ(element(m, i, j), 10.0F * i + j - 7.5F);
  }
}

TEST(safetensors, reads_files_of_the_reference_writer) {
  expect_the_tensor("tensors.safetensors:f16", elem::f16);
  expect_the_tensor("tensors.safetensors:f32", elem::f32);
  expect_the_tensor("bf16.safetensors:bf16", elem::bf16);  // data at an odd address
  expect_the_tensor("bf16.safetensors", elem::bf16);       // the only tensor needs no name
}

TEST(safetensors, reads_and_writes_types_of_8_bits_and_int32) {
  std::string const path = data_file("small.safetensors");
  for (elem type : {elem::e4m3, elem::e5m2, elem::s8, elem::u8, elem::s32}) {
    SCOPED_TRACE(name(type));
    matrix_file const file(parse_address(path + ":" + name(type)));
    matrix_view const& m = file.view();
    ASSERT_EQ(text_of(m.type, m.rows, m.cols), text_of(type, 3, 5));
    for (int i = 0; i < 3; ++i)
      for (int j = 0; j < 5; ++j)
        EXPECT_EQ(element(m, i, j), 5.0F * i + j - (type == elem::u8 ? 0.0F : 7.0F));
    std::string const written = safetensors_header("x", type, 2, 3) +
                                std::string(static_cast<std::size_t>(6 * size_bytes(type)), 0);
    EXPECT_EQ(view_safetensors(bytes_of_text(written), "f", "x").type, type);
  }
  matrix_file const scales(parse_address(path + ":e8m0"));
  EXPECT_EQ(scales.view().type, elem::ue8m0);
  EXPECT_EQ(element(scales.view(), 0, 2), 4.0F);
}

TEST(safetensors, every_truncation_of_8_bit_tensors_is_refused) {
  std::string const whole = read_file(data_file("small.safetensors"));
  for (std::size_t n = 0; n < whole.size(); n += 3)
    EXPECT_EQ(refused_tensor(whole.substr(0, n), "e4m3").code, "TW0603") << n;
}

TEST(safetensors, the_list_names_all_tensors) {
  std::string const file = read_file(data_file("tensors.safetensors"));
  std::vector<std::string> names;
  for (auto const& t : list_safetensors(bytes_of_text(file), "f").tensors) names.push_back(t.name);
  EXPECT_EQ(names, (std::vector<std::string>{"ints", "f32", "vector", "f16"}));
}

TEST(safetensors, a_missing_or_unnamed_tensor_lists_those_there) {
  std::string const file = read_file(data_file("tensors.safetensors"));
  rejection const r = refused_tensor(file, "weights");
  EXPECT_EQ(r.code, "TW0610");
  EXPECT_EQ(r.got, "\"weights\"");
  EXPECT_EQ(r.need, "one of \"ints\", \"f32\", \"vector\", \"f16\"");
  EXPECT_EQ(refused_tensor(file, "").got, "no name");
  EXPECT_EQ(refused_tensor(file, "ints").code, "TW0604");
  EXPECT_EQ(refused_tensor(file, "vector").code, "TW0605");
}

TEST(safetensors, a_written_header_is_read_back_with_aligned_data) {
  for (std::string tensor : {"x", "model.layers.0.w", "a \"quoted\" \xC3\xA4"}) {
    std::string const file = safetensors_header(tensor, elem::f16, 2, 3) + std::string(12, '\0');
    EXPECT_EQ((file.size() - 12) % 64, 0U);
    matrix_view const m = view_safetensors(bytes_of_text(file), "f", tensor);
    EXPECT_EQ(text_of(m.type, m.rows, m.cols), "2x3 f16");
  }
  for (std::string tensor : {"", "__metadata__", "\xFF"}) {
    auto const r = rejection_of([&] { safetensors_header(tensor, elem::f16, 2, 3); });
    EXPECT_EQ(r.code, "TW0608") << tensor;
  }
}

TEST(safetensors, every_truncation_is_refused_and_so_is_a_tail) {
  std::string const whole = read_file(data_file("tensors.safetensors"));
  for (std::size_t n = 0; n < whole.size(); ++n) {
    EXPECT_EQ(refused_tensor(whole.substr(0, n), "f32").code, "TW0603") << n;
  }
  EXPECT_EQ(refused_tensor(whole + "x", "f32").code, "TW0609");
}

TEST(safetensors, refuses_a_header_of_absurd_length) {
  std::string file(64, '\0');
  for (int i = 0; i < 8; ++i) file[static_cast<std::size_t>(i)] = '\xFF';
  EXPECT_EQ(refused_tensor(file).code, "TW0608");
  EXPECT_EQ(refused_tensor(file).got, "18446744073709551615 bytes");
}

TEST(safetensors, refuses_headers_that_are_no_list_of_tensors) {
  for (char const* header : {
           "",
           " ",
           "[]",
           "5",
           "{",
           "{}}",
           "{} x",
           "nonsense",
           "\"x\"",
           "null",
           R"({"x": 5})",
           R"({"x": []})",
           R"({"x": {}})",
           R"({"x": {"dtype": "F16"}})",
           R"({"x": {"dtype": 5, "shape": [1, 1], "data_offsets": [0, 2]}})",
           R"({"x": {"dtype": "F16", "shape": [1, -1], "data_offsets": [0, 2]}})",
           R"({"x": {"dtype": "F16", "shape": [1, 1.0], "data_offsets": [0, 2]}})",
           R"({"x": {"dtype": "F16", "shape": [[1], 1], "data_offsets": [0, 2]}})",
           R"({"x": {"dtype": "F16", "shape": [1, 1], "data_offsets": [0]}})",
           R"({"x": {"dtype": "F16", "shape": [1, 1], "data_offsets": [0, 2, 2]}})",
           R"({"x": {"dtype": "F16", "shape": [1, 99999999999999999999], "data_offsets": [0, 2]}})",
           R"({"x": {"dtype": "F16", "shape": [1, 1], "data_offsets": [0, 2], "more": 1}})",
           R"({"x": {"dtype": "F16", "dtype": "F16", "shape": [1, 1], "data_offsets": [0, 2]}})",
           R"({"__metadata__": 5})",
           R"({"__metadata__": {"a": 5}})",
       }) {
    rejection const r = refused_tensor(safetensors_of(header, 2));
    EXPECT_EQ(r.code, "TW0608") << header;
  }
  std::string const x = R"("x": {"dtype": "F16", "shape": [1, 1], "data_offsets": [0, 2]})";
  EXPECT_EQ(refused_tensor(safetensors_of("{" + x + "}", 2)).code,
            "");  // the control: this one is fine
  EXPECT_EQ(refused_tensor(safetensors_of("\xEF\xBB\xBF{" + x + "}", 2)).got, "a byte order mark");
  EXPECT_EQ(refused_tensor(safetensors_of("{" + x + ", " + x + "}", 2)).got, "the key \"x\" twice");
  EXPECT_EQ(refused_tensor(safetensors_of(std::string(100000, '['), 0)).code, "TW0608");
}

std::string two_tensors(std::string const& first, std::string const& second) {
  return R"({"x": {"dtype": "F16", "shape": [1, 2], "data_offsets": )" + first +
         R"(}, "y": {"dtype": "F16", "shape": [1, 2], "data_offsets": )" + second + "}}";
}

TEST(safetensors, offsets_must_tile_the_data) {
  EXPECT_EQ(refused_tensor(safetensors_of(two_tensors("[0, 4]", "[4, 8]"), 8)).code, "");
  EXPECT_EQ(refused_tensor(safetensors_of(two_tensors("[4, 8]", "[0, 4]"), 8)).code, "");
  EXPECT_EQ(refused_tensor(safetensors_of(two_tensors("[0, 4]", "[2, 6]"), 6)).code,
            "TW0609");  // overlap
  EXPECT_EQ(refused_tensor(safetensors_of(two_tensors("[0, 4]", "[0, 4]"), 4)).code,
            "TW0609");  // the same
  EXPECT_EQ(refused_tensor(safetensors_of(two_tensors("[0, 4]", "[6, 10]"), 10)).code,
            "TW0609");  // a gap
  EXPECT_EQ(refused_tensor(safetensors_of(two_tensors("[0, 4]", "[4, 2]"), 8)).code,
            "TW0609");  // backwards
  EXPECT_EQ(refused_tensor(safetensors_of(two_tensors("[0, 4]", "[4, 9]"), 9)).code,
            "TW0609");  // wrong size
  EXPECT_EQ(refused_tensor(safetensors_of(two_tensors("[0, 4]", "[4, 8]"), 7)).code,
            "TW0603");  // beyond
}

TEST(safetensors, extents_that_overflow_or_are_empty_are_refused) {
  std::string const head = R"({"x": {"dtype": "F16", "shape": )";
  EXPECT_EQ(refused_tensor(
                safetensors_of(head + R"([4294967296, 4294967296], "data_offsets": [0, 2]}})", 2))
                .code,
            "TW0606");
  EXPECT_EQ(refused_tensor(safetensors_of(head + R"([0, 3], "data_offsets": [0, 0]}})", 0)).code,
            "TW0607");
}

}  // namespace
