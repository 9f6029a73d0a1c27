// SPDX-License-Identifier: Apache-2.0
// member_names_test.cpp  Members of shared memory are reported by name: 13, 40 and 128 of them,
//                        nested structs, arrays of structs.
#include "tests/hazard/expect.hpp"

namespace {

using namespace tw;

#define X(n) n##0, n##1, n##2, n##3, n##4, n##5, n##6, n##7
struct of_128 {
  std::uint8_t X(a), X(b), X(c), X(d), X(e), X(f), X(g), X(h);
  std::uint16_t X(i), X(j), X(k), X(l), X(m), X(n), X(o), X(p);
};
struct of_129 {
  std::uint8_t X(a), X(b), X(c), X(d), X(e), X(f), X(g), X(h);
  std::uint16_t X(i), X(j), X(k), X(l), X(m), X(n), X(o), X(p);
  int one_more;
};
struct of_40 {
  int X(a), X(b), X(c), X(d);
  double X(e);
};
#undef X

struct entry {
  int key, value;
};
struct table {
  entry of[4][2];
  short used[6];
};
struct of_13 {
  int a, b, c, d, e, f, g, h, i, j, k;
  table tables[3];
  of_40 many;
};
struct derived : entry {};
struct derived_with_member : entry {
  int more;
};

struct with_union {
  int before;
  union {
    int as_int[4];
    float as_float[4];
  };
  int after;
};
struct with_bits {
  unsigned low : 5, high : 7;
  int word;
};
struct with_named_union {
  union either {
    int as_int;
    float as_float;
  } both;
  int after;
};
struct holds_them {
  with_union stages[2];
  with_bits flags;
  with_named_union named;
  int last;
};

std::vector<std::string> names_of(std::span<emu::smem_object const> objects) {
  std::vector<std::string> names;
  for (emu::smem_object const& o : objects) names.emplace_back(o.name);
  return names;
}

TEST(MemberNames, AreFoundUpToTheirMaximum) {
  EXPECT_EQ(names_of(emu::objects_of_type<of_13>()),
            (std::vector<std::string>{"a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k",
                                      "tables", "many"}));
  auto const forty = emu::objects_of_type<of_40>();
  ASSERT_EQ(forty.size(), 40U);
  EXPECT_EQ(forty[31].name, "d7");
  EXPECT_EQ(forty[39].name, "e7");
  EXPECT_EQ(forty[39].offset, offsetof(of_40, e7));
  auto const most = emu::objects_of_type<of_128>();
  ASSERT_EQ(most.size(), 128U);
  EXPECT_EQ(most[127].name, "p7");
  EXPECT_EQ(most[127].offset, offsetof(of_128, p7));
  EXPECT_TRUE(emu::objects_of_type<of_129>().empty());
  EXPECT_TRUE(emu::objects_of_type<derived>().empty());
  EXPECT_TRUE(emu::objects_of_type<derived_with_member>().empty());
  EXPECT_TRUE(emu::objects_of_type<int>().empty());
}

TEST(MemberNames, AnonymousUnionsAndBitFieldsAreOneObject) {
  EXPECT_TRUE(emu::objects_of_type<with_union>().empty());
  EXPECT_TRUE(emu::objects_of_type<with_bits>().empty());
  EXPECT_EQ(names_of(emu::objects_of_type<with_named_union>()),
            (std::vector<std::string>{"both", "after"}));
  auto const all = emu::objects_of_type<holds_them>();
  EXPECT_EQ(names_of(all), (std::vector<std::string>{"stages", "flags", "named", "last"}));
  EXPECT_TRUE(all[0].members.empty());
  EXPECT_EQ(all[3].offset, offsetof(holds_them, last));
}

/// Two threads write the word that f(shared memory) returns.
template <class Smem, int& (*Word)(Smem&)>
struct race {
  static constexpr int threads = 64, cluster = 1, smem_bytes = sizeof(Smem);
  using smem = Smem;
  struct params {};
  TW_DEVICE static void run(params const&) {
    if (thread_id() % 32 == 0) Word(dynamic_smem<Smem>()) = thread_id();
  }
};
template <class Smem, int& (*Word)(Smem&)>
std::string object_of_race() {
  emu::report const r = emu::run(race<Smem, Word>{}, 1, {});
  return r.diagnoses.size() == 1 ? r.diagnoses[0].object : r.text();
}

int& c5_of(of_40& s) { return s.c5; }
int& k_of(of_13& s) { return s.k; }
int& value_of(of_13& s) { return s.tables[2].of[3][1].value; }
int& d7_of(of_13& s) { return s.many.d7; }
int& union_of(with_union& s) { return s.as_int[2]; }
int& bits_of(with_bits& s) { return s.word; }
int& stage_of(holds_them& s) { return s.stages[1].as_int[1]; }

TEST(MemberNames, ReportsNameTheMemberOfAnElement) {
  EXPECT_EQ((object_of_race<of_40, c5_of>()), "c5 of CTA 0");
  EXPECT_EQ((object_of_race<of_13, k_of>()), "k of CTA 0");
  EXPECT_EQ((object_of_race<of_13, value_of>()), "tables[2].of[3][1].value of CTA 0");
  EXPECT_EQ((object_of_race<of_13, d7_of>()), "many.d7 of CTA 0");
  EXPECT_EQ((object_of_race<with_union, union_of>()), "shared memory +0xc of CTA 0");
  EXPECT_EQ((object_of_race<with_bits, bits_of>()), "shared memory +0x4 of CTA 0");
  EXPECT_EQ((object_of_race<holds_them, stage_of>()), "stages[1]+0x8 of CTA 0");
}

}  // namespace
