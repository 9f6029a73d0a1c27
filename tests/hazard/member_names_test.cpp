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

TEST(MemberNames, ReportsNameTheMemberOfAnElement) {
  EXPECT_EQ((object_of_race<of_40, c5_of>()), "c5 of CTA 0");
  EXPECT_EQ((object_of_race<of_13, k_of>()), "k of CTA 0");
  EXPECT_EQ((object_of_race<of_13, value_of>()), "tables[2].of[3][1].value of CTA 0");
  EXPECT_EQ((object_of_race<of_13, d7_of>()), "many.d7 of CTA 0");
}

}  // namespace
