// SPDX-License-Identifier: Apache-2.0
// protocol_test.cpp  Statistics, the order of measurements, and power from a stepping counter.
#include "tools/measure/protocol.hpp"

#include <gtest/gtest.h>

#include <random>

#include "tools/measure/power.hpp"
#include "tools/measure/watchdog.hpp"

namespace tw::bench {
namespace {

TEST(Statistics, TheMedianSplitsTheSamples) {
  std::mt19937 random(7);
  for (int count = 1; count < 40; ++count) {
    std::vector<double> samples;
    for (int i = 0; i < count; ++i) samples.push_back(static_cast<double>(random() % 20));
    double const middle = median(samples);
    auto const below =
        std::count_if(samples.begin(), samples.end(), [&](double x) { return x < middle; });
    auto const above =
        std::count_if(samples.begin(), samples.end(), [&](double x) { return x > middle; });
    EXPECT_LE(2 * below, count);
    EXPECT_LE(2 * above, count);
    std::shuffle(samples.begin(), samples.end(), random);
    EXPECT_EQ(median(samples), middle);
    EXPECT_LE(smallest(samples), middle);
    EXPECT_GE(largest(samples), middle);
  }
  EXPECT_EQ(median({1, 2, 4, 100}), 3);
}

TEST(Statistics, TheGeometricMeanTurnsRatiosAround) {
  std::vector<double> const ratios = {0.5, 1.25, 3.0, 0.9};
  std::vector<double> inverse;
  for (double const r : ratios) inverse.push_back(1 / r);
  EXPECT_NEAR(geometric_mean(ratios) * geometric_mean(inverse), 1, 1e-12);
  EXPECT_NEAR(geometric_mean({2, 8}), 4, 1e-12);
}

TEST(Statistics, OfNothingThereIsNothing) {
  EXPECT_TRUE(std::isnan(median({})) && std::isnan(smallest({})) && std::isnan(largest({})) &&
              std::isnan(geometric_mean({})));
}

/// Writes its name in each run.
struct recorder final : contender {
  recorder(char who, std::string& log) : name(who), log(log) {}
  sample burst() override { return note(); }
  sample sustained(double, double) override { return note(); }
  sample note() {
    log += name;
    sample s;
    s.us = static_cast<double>(log.size());
    return s;
  }
  char name;
  std::string& log;
};

TEST(Protocol, BurstsRotateTheStarterAndDropTheFirstRound) {
  std::string log;
  recorder a('a', log), b('b', log), c('c', log);
  protocol_options o;
  o.burst_rounds = 3;
  auto const samples = measure_bursts({&a, &b, &c}, o, [&](double seconds) {
    EXPECT_EQ(seconds, o.burst_pause_s);
    log += '.';
  });
  EXPECT_EQ(log, ".a.b.c.b.c.a.c.a.b.a.b.c");  // a pause before each burst
  for (auto const& of_one : samples) EXPECT_EQ(of_one.size(), 3U);
  EXPECT_EQ(samples[1][0].us, 8);  // b's first counted burst is the first of round 1
}

TEST(Protocol, WindowsRotateTheStarter) {
  std::string log;
  recorder a('a', log), b('b', log);
  auto const samples = measure_sustained({&a, &b}, {});
  EXPECT_EQ(log, "abba");
  EXPECT_EQ(samples[1].size(), 2U);
}

TEST(Protocol, FiguresThatWereNotMeasuredDropOut) {
  std::vector<sample> samples(3);
  samples[1].us = 5;
  EXPECT_EQ(median_us(samples), 5);
  EXPECT_TRUE(std::isnan(median(figures(samples, &sample::power_w))));
}

/// Readings each 5 ms of a counter that follows `power_w` in steps of 0.1 s.
std::vector<power_reading> readings(double power_w, double from_s, double to_s) {
  std::vector<power_reading> list;
  for (double t = from_s; t < to_s; t += 0.005) {
    power_reading r;
    r.time_s = t;
    r.energy_j = power_w * 0.1 * std::floor(t / 0.1);
    r.power_w = power_w;
    r.sm_mhz = 1500;
    r.temperature_c = 40 + t;
    r.throttle_reasons = t < 1 ? 1 : 4;
    list.push_back(r);
  }
  return list;
}

TEST(Power, StepsOfTheCounterGiveTheMean) {
  for (double offset = 0; offset < 0.1; offset += 0.013)
    EXPECT_NEAR(counter_power_w(readings(650, 0.2 + offset, 1.45 + offset)), 650, 650 * 0.012);
}

TEST(Power, AShortWindowSaysNothing) {
  EXPECT_TRUE(std::isnan(counter_power_w(readings(650, 0.21, 0.48))));
  EXPECT_TRUE(std::isnan(counter_power_w({})));
}

TEST(Power, ReadingsEnterTheSample) {
  sample s;
  add_readings(s, readings(300, 0.5, 1.5));
  EXPECT_NEAR(s.power_gauge_w, 300, 1e-9);
  EXPECT_NEAR(s.nvml_sm_mhz, 1500, 1e-9);
  EXPECT_NEAR(s.temperature_c, 41.5, 0.01);
  EXPECT_EQ(s.throttle_reasons, 5U);
}

TEST(Watchdog, EndsAProcessThatHangs) {
  EXPECT_EXIT(
      {
        watchdog const guard(1);
        for (;;) pause();
      },
      testing::ExitedWithCode(1), "TW0711");
}

TEST(Watchdog, ForgetsWhatHasEnded) {
  { watchdog const guard(1000); }
  EXPECT_EQ(alarm(0), 0U);
}

}  // namespace
}  // namespace tw::bench
