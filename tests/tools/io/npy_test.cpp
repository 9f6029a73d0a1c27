// SPDX-License-Identifier: Apache-2.0
// npy_test.cpp  Files of NumPy and ml_dtypes are read as they define them; all others are refused.
#include "tools/io/npy.hpp"

#include "tests/tools/support.hpp"
#include "tools/io/matrix_file.hpp"

namespace {

using namespace tw;
using namespace tw_test;

/// The matrix of tests/tools/data/make.py.
void expect_the_matrix(matrix_view const& m, elem type, order ord) {
  ASSERT_EQ(m.rows, 3);
  ASSERT_EQ(m.cols, 5);
  EXPECT_EQ(m.type, type);
  EXPECT_EQ(m.ord, ord);
  EXPECT_EQ(m.pitch_elems(), ord == order::row_major ? 5 : 3);
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 5; ++j) EXPECT_EQ(element(m, i, j), 10.0F * i + j - 7.5F);
  }
}

void expect_reads(std::string const& name, elem type, order ord) {
  SCOPED_TRACE(name);
  matrix_file const file(parse_address(data_file(name)));
  expect_the_matrix(file.view(), type, ord);
}

TEST(npy, reads_each_type_in_both_orders) {
  for (elem type : {elem::f16, elem::bf16, elem::f32}) {
    expect_reads(std::string(name(type)) + "_c.npy", type, order::row_major);
    expect_reads(std::string(name(type)) + "_f.npy", type, order::col_major);
    expect_reads(std::string(name(type)) + "_again.npy", type, order::row_major);
  }
}

/// The small matrix of make.py.
void expect_the_small_matrix(matrix_view const& m, elem type, order ord) {
  ASSERT_EQ(text_of(m.type, m.rows, m.cols), text_of(type, 3, 5));
  EXPECT_EQ(m.ord, ord);
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 5; ++j)
      EXPECT_EQ(element(m, i, j), 5.0F * i + j - (type == elem::u8 ? 0.0F : 7.0F));
}

TEST(npy, reads_and_writes_types_of_8_bits_and_int32) {
  for (elem type : {elem::e4m3, elem::e5m2, elem::s8, elem::u8, elem::s32}) {
    SCOPED_TRACE(name(type));
    std::string const file = data_file(std::string(name(type)) + "_c.npy");
    expect_the_small_matrix(matrix_file(parse_address(file)).view(), type, order::row_major);
    EXPECT_EQ(npy_header(type, 3, 5), read_file(file).substr(0, 128));
    matrix_file const by_cols(parse_address(data_file(std::string(name(type)) + "_f.npy")));
    expect_the_small_matrix(by_cols.view(), type, order::col_major);
  }
  matrix_file const again(parse_address(data_file("e4m3_again.npy")));
  expect_the_small_matrix(again.view(), elem::e4m3, order::row_major);
}

TEST(npy, a_scalar_is_read_where_it_is_accepted) {
  matrix_address const at = parse_address(data_file("scalar.npy"));
  EXPECT_EQ(rejection_of([&] { matrix_file file(at); }).code, "TW0605");
  matrix_file const file(at, {.scalars = true});
  EXPECT_EQ(element(file.view(), 0, 0), 0.5F);
}

TEST(npy, reads_versions_2_and_3) {
  expect_reads("version2.npy", elem::f32, order::row_major);
  expect_reads("version3.npy", elem::f32, order::row_major);
}

TEST(npy, what_it_writes_is_what_numpy_writes) {
  for (elem type : {elem::f16, elem::bf16, elem::f32}) {
    std::string const file = read_file(data_file(std::string(name(type)) + "_c.npy"));
    EXPECT_EQ(npy_header(type, 3, 5), file.substr(0, 128)) << name(type);
  }
}

TEST(npy, a_header_of_any_extents_is_read_back) {
  for (std::int64_t rows : {std::int64_t{1}, std::int64_t{12345}, std::int64_t{1} << 50}) {
    std::string const header = npy_header(elem::bf16, rows, 3);
    EXPECT_EQ(header.size() % 64, 0U);
    auto const r = rejection_of([&] { view_npy(bytes_of_text(header), "f"); });
    EXPECT_EQ(r.code, "TW0603");  // the header is fine, its elements are missing
    EXPECT_EQ(r.need, std::to_string(6 * rows) + " bytes for " + text_of(elem::bf16, rows, 3));
  }
}

struct bad_file {
  char const *name, *code, *got, *need;
};

TEST(npy, refuses_what_numpy_may_write_but_is_no_matrix_of_ours) {
  for (bad_file const& c : {
           bad_file{"big_endian.npy", "TW0604", "\">f4\"", "'<f4' (float32)"},
           bad_file{"int64.npy", "TW0604", "\"<i8\"", "'<f2' (float16)"},
           bad_file{"struct.npy", "TW0604", "[('x', '<f2')]", "'<f2'"},
           bad_file{"vector.npy", "TW0605", "1 dimension", "2 dimensions"},
           bad_file{"cube.npy", "TW0605", "3 dimensions", "2 dimensions"},
           bad_file{"empty.npy", "TW0607", "0x5 f32", "at least one row"},
           bad_file{"absent.npy", "TW0601", "No such file", "readable"},
           bad_file{"../data/../data", "TW0611", "data", "FILE.npy"},
       }) {
    auto const r = rejection_of([&] { matrix_file(parse_address(data_file(c.name))); });
    EXPECT_EQ(r.code, c.code) << c.name;
    EXPECT_NE(r.got.find(c.got), std::string::npos) << to_string(r);
    EXPECT_NE(r.need.find(c.need), std::string::npos) << to_string(r);
  }
}

/// A version 1.0 file with this dictionary and `data_bytes` of zeros.
std::string file_of(std::string const& dict, std::size_t data_bytes = 0) {
  std::string file("\x93NUMPY\x01\x00", 8);
  file += {static_cast<char>(dict.size() & 0xFF), static_cast<char>(dict.size() >> 8)};
  return file + dict + std::string(data_bytes, '\0');
}

TEST(npy, accepts_any_key_order_quote_and_spacing) {
  for (char const* dict : {
           "{'shape': (2, 3), 'fortran_order': False, 'descr': '<f2'}",
           "{\"descr\":\"<f2\",\"fortran_order\":False,\"shape\":(2,3,),}",
           "{'descr': '<f2', 'fortran_order': False, 'shape': (2L, 3L), }    \n",
       }) {
    std::string const file = file_of(dict, 12);
    matrix_view const m = view_npy(bytes_of_text(file), "f");
    EXPECT_EQ(text_of(m.type, m.rows, m.cols), "2x3 f16") << dict;
  }
}

TEST(npy, refuses_corrupt_dictionaries_and_says_where) {
  struct bad_dict {
    char const *dict, *code, *in_message;
  };
  for (bad_dict const& c : {
           bad_dict{"", "TW0602", "character 0"},
           bad_dict{"{'descr': '<f2', 'fortran_order': False, }", "TW0602", "the keys descr"},
           bad_dict{"{'descr': '<f2', 'descr': '<f2', }", "TW0602", "a new key of"},
           bad_dict{"{'descr': '<f2', 'fortran_order': 0, }", "TW0602", "True or False"},
           bad_dict{"{'colour': 'red', }", "TW0602", "a new key of descr"},
           bad_dict{"{\xe2\x82", "TW0602", "\"\\xe2\\x82\""},  // UTF-8 that breaks off
           bad_dict{"{'descr': '<f2", "TW0602", "a closing quote"},
           bad_dict{"{'descr': [('x', '<f2')", "TW0602", "']'"},
           bad_dict{"{'descr' '<f2'}", "TW0602", "':'"},
           bad_dict{"{'descr': '<f2', 'fortran_order': False, 'shape': (2, 3), } x", "TW0602",
                    "the end of the header"},
           bad_dict{"{'descr': '<f2', 'fortran_order': False, 'shape': (2, -3), }", "TW0602",
                    "an extent"},
           bad_dict{"{'descr': '<f2', 'fortran_order': False, 'shape': (2, 03), }", "TW0602",
                    "without leading zeros"},
           bad_dict{
               "{'descr': '<f2', 'fortran_order': False, 'shape': (99999999999999999999, 1), }",
               "TW0606", "99999999999999999999"},
           bad_dict{"{'descr': '<f4', 'fortran_order': False, 'shape': (4294967296, 4294967296), }",
                    "TW0606", "4294967296x4294967296 f32"},
       }) {
    std::string const file = file_of(c.dict, 64);
    auto const r = rejection_of([&] { view_npy(bytes_of_text(file), "f"); });
    EXPECT_EQ(r.code, c.code) << c.dict;
    EXPECT_NE(to_string(r).find(c.in_message), std::string::npos) << to_string(r);
  }
}

/// The bits of an array are below 2^63, whatever the order of the extents: a number of
/// bits that overflows on the way may end as any number, also as 0.
TEST(npy, a_size_that_overflows_is_refused_wherever_it_does) {
  constexpr std::int64_t one = 1,
                         extents[] = {one,       2,         3,         one << 20, one << 31,
                                      one << 32, one << 40, one << 61, one << 62, INT64_MAX};
  struct stored {
    char const* descr;
    int bits;
  };
  for (stored const& type : {stored{"<f8", 64}, {"<f4", 32}, {"<f2", 16}, {"|i1", 8}})
    for (std::int64_t const x : extents)
      for (std::int64_t const y : extents)
        for (std::int64_t const z : extents) {
          long double const bits = static_cast<long double>(type.bits) *
                                   static_cast<long double>(x) * static_cast<long double>(y) *
                                   static_cast<long double>(z);
          std::string const file = file_of(
              "{'descr': '" + std::string(type.descr) + "', 'fortran_order': False, 'shape': (" +
              std::to_string(x) + ", " + std::to_string(y) + ", " + std::to_string(z) + "), }");
          auto const r = rejection_of(
              [&] { view_npy(bytes_of_text(file), "f", {.stacks = true, .empty = true}); });
          ASSERT_EQ(r.code, bits < 0x1p63L ? "TW0603" : "TW0606") << file.substr(10);
        }
}

/// With an extent of 0 the other extents count too: their number of bits may not overflow.
TEST(npy, an_empty_array_with_extents_that_overflow_is_refused) {
  auto const code = [](std::string const& shape, bool empty) {
    std::string const file =
        file_of("{'descr': '<f4', 'fortran_order': False, 'shape': " + shape + "}");
    return rejection_of(
               [&] { view_npy(bytes_of_text(file), "f", {.stacks = true, .empty = empty}); })
        .code;
  };
  for (std::string const shape : {"(4611686018427387904, 4, 0)", "(9223372036854775807, 3, 0)",
                                  "(4294967296, 4294967296, 0)"}) {
    EXPECT_EQ(code(shape, true), "TW0606") << shape;
    EXPECT_EQ(code(shape, false), "TW0606") << shape;
  }
  for (std::string const shape : {"(0, 3)", "(3, 0)", "(0, 0)", "(2, 0, 5)", "(0, 2, 5)"}) {
    EXPECT_EQ(code(shape, true), "") << shape;
    EXPECT_EQ(code(shape, false), "TW0607") << shape;
  }
}

TEST(npy, every_truncation_is_refused_and_every_longer_file_read) {
  std::string const whole = read_file(data_file("bf16_c.npy"));
  for (std::size_t n = 0; n < whole.size(); ++n) {
    std::string const file = whole.substr(0, n);
    EXPECT_EQ(rejection_of([&] { view_npy(bytes_of_text(file), "f"); }).code, "TW0603") << n;
  }
  expect_the_matrix(view_npy(bytes_of_text(whole + "more"), "f"), elem::bf16, order::row_major);
}

TEST(npy, refuses_a_foreign_magic_and_version) {
  std::string file = read_file(data_file("f32_c.npy"));
  file[6] = 4;
  EXPECT_EQ(rejection_of([&] { view_npy(bytes_of_text(file), "f"); }).got, "4.0");
  file[0] = 'P';
  auto const r = rejection_of([&] { view_npy(bytes_of_text(file), "f"); });
  EXPECT_EQ(r.code, "TW0602");
  EXPECT_EQ(r.got, "\"PNUMPY\"");
}

}  // namespace
