#include "reference_trainer/faults/fault.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <ostream>
#include <random>
#include <string>
#include <vector>

namespace lockstep::trainer {

void PrintTo(const Fault& fault, std::ostream* stream) {
  *stream << to_string(fault);
}

namespace {

using ::testing::HasSubstr;

constexpr std::int64_t kForever = Fault{}.last_step;

Fault parsed(const std::string& specification) {
  const Result<Fault> fault = parse_fault(specification);
  EXPECT_TRUE(fault.ok()) << specification << ": " << fault.error().message;
  return fault.ok() ? fault.value() : Fault{};
}

struct Reading {
  const char* specification;
  Fault fault;
};

class ReadFault : public ::testing::TestWithParam<Reading> {};

TEST_P(ReadFault, AsWritten) {
  EXPECT_EQ(parsed(GetParam().specification), GetParam().fault);
}

INSTANTIATE_TEST_SUITE_P(
    Specifications, ReadFault,
    ::testing::Values(
        Reading{"slow_rank:rank=2", {FaultKind::slow_rank, 2, 2, 1, kForever}},
        Reading{"slow_rank:factor=1.5,rank=0", {FaultKind::slow_rank, 0, 1.5, 1, kForever}},
        Reading{"slow_stage:stage=3,factor=4", {FaultKind::slow_stage, 3, 4, 1, kForever}},
        Reading{"slow_loader", {FaultKind::slow_loader, std::nullopt, 50, 1, kForever}},
        Reading{"slow_loader:rank=1,ms=30,steps=3-5", {FaultKind::slow_loader, 1, 30, 3, 5}},
        Reading{"pause:ms=0.25", {FaultKind::pause, std::nullopt, 0.25, 1, kForever}},
        Reading{"uneven_batch:factor=3", {FaultKind::uneven_batch, std::nullopt, 3, 1, kForever}},
        Reading{"delayed_launch:rank=7,us=1e3", {FaultKind::delayed_launch, 7, 1000, 1, kForever}},
        Reading{"skip_collective:rank=1,steps=4", {FaultKind::skip_collective, 1, 0, 4, 4}},
        Reading{"slow_link:mbit=200", {FaultKind::slow_link, std::nullopt, 200, 1, kForever}}),
    [](const auto& info) { return "Case" + std::to_string(info.index); });

struct Mistake {
  const char* specification;
  std::vector<const char*> said;  // besides the specification
};

class WrongFault : public ::testing::TestWithParam<Mistake> {};

TEST_P(WrongFault, NamesSpecificationKeyValueAndWhatIsAllowed) {
  const Result<Fault> fault = parse_fault(GetParam().specification);
  ASSERT_FALSE(fault.ok());
  EXPECT_THAT(fault.error().message, HasSubstr("--fault '" + std::string(GetParam().specification) + "'"));
  for (const char* part : GetParam().said) EXPECT_THAT(fault.error().message, HasSubstr(part));
}

INSTANTIATE_TEST_SUITE_P(
    Specifications, WrongFault,
    ::testing::Values(Mistake{"", {"no fault ''", "slow_rank", "slow_link"}},
                      Mistake{"slow_node:rank=1", {"no fault 'slow_node'", "skip_collective"}},
                      Mistake{"slow_rank", {"which rank?", "slow_rank:rank=1"}},
                      Mistake{"slow_rank:factor=3", {"which rank?"}},
                      Mistake{"slow_stage:rank=1", {"no key 'rank'", "stage, factor, steps"}},
                      Mistake{"skip_collective", {"which rank?"}},
                      Mistake{"skip_collective:rank=1,ms=3", {"no key 'ms'", "rank, steps"}},
                      Mistake{"slow_rank:", {"'' is not KEY=VALUE"}},
                      Mistake{"slow_rank:rank=1,", {"'' is not KEY=VALUE"}},
                      Mistake{"slow_rank:rank", {"'rank' is not KEY=VALUE"}},
                      Mistake{"slow_rank:rank=-1", {"rank='-1'", "whole number from 0"}},
                      Mistake{"slow_rank:rank=one", {"rank='one'"}},
                      Mistake{"slow_rank:rank=1x", {"rank='1x'"}},
                      Mistake{"slow_rank:rank=99999999999", {"rank='99999999999'"}},
                      Mistake{"slow_rank:rank=1,rank=2", {"rank is given twice"}},
                      Mistake{"slow_rank:rank=1,factor=0.5", {"factor='0.5'", "from 1 to 1000"}},
                      Mistake{"slow_rank:rank=1,factor=nan", {"factor='nan'"}},
                      Mistake{"slow_rank:rank=1,factor=inf", {"factor='inf'"}},
                      Mistake{"slow_loader:ms=-1", {"ms='-1'", "from 0 to 3600000"}},
                      Mistake{"slow_link:mbit=0", {"mbit='0'", "from 0.001 to 1000000"}},
                      Mistake{"pause:steps=0-3", {"steps='0-3'", "A-B", "1 the first step"}},
                      Mistake{"pause:steps=5-3", {"steps='5-3'"}}, Mistake{"pause:steps=3-", {"steps='3-'"}},
                      Mistake{"pause:steps=-3", {"steps='-3'"}},
                      Mistake{"pause:steps=1-2-3", {"steps='1-2-3'"}}, Mistake{"pause:steps=", {"steps=''"}}),
    [](const auto& info) { return "Case" + std::to_string(info.index); });

TEST(Fault, RanksAndStagesMustExist) {
  EXPECT_TRUE(check_fault(parsed("slow_rank:rank=3"), 4, 1).ok());
  EXPECT_THAT(check_fault(parsed("slow_rank:rank=4"), 4, 1).error().message,
              HasSubstr("--fault slow_rank:rank=4,factor=2: rank=4: the job's ranks are 0 to 3"));
  EXPECT_TRUE(check_fault(parsed("slow_stage:stage=1"), 2, 2).ok());
  EXPECT_THAT(check_fault(parsed("slow_stage:stage=2"), 4, 2).error().message,
              HasSubstr("the job's stages are 0 to 1"));
  EXPECT_THAT(check_fault(parsed("slow_stage:stage=0"), 4, 1).error().message, HasSubstr("no pipeline"));
  EXPECT_TRUE(check_fault(parsed("pause"), 1, 1).ok());
  EXPECT_THAT(check_fault(parsed("slow_link"), 1, 1).error().message, HasSubstr("nobody"));
  EXPECT_THAT(check_fault(parsed("skip_collective:rank=0"), 1, 1).error().message, HasSubstr("nobody"));
}

TEST(Fault, HelpNamesEveryKind) {
  for (int kind = 0; kind < kFaultKinds; ++kind)
    EXPECT_THAT(describe_faults(), HasSubstr(to_string(static_cast<FaultKind>(kind))));
}

// Any fault that can be written down.
Fault random_fault(std::mt19937_64& random) {
  Fault fault;
  fault.kind = static_cast<FaultKind>(random() % kFaultKinds);
  const bool must = fault.kind == FaultKind::slow_rank || fault.kind == FaultKind::slow_stage ||
                    fault.kind == FaultKind::skip_collective;
  if (must || random() % 2 == 0) fault.place = static_cast<int>(random() % 2'000'000'000);
  if (fault.kind != FaultKind::skip_collective)
    fault.amount = std::uniform_real_distribution(1.0, 1000.0)(random);
  if (random() % 2 == 0) {
    fault.first_step = 1 + static_cast<std::int64_t>(random() % 1000);
    fault.last_step = fault.first_step + static_cast<std::int64_t>(random() % 1000);
  }
  return fault;
}

TEST(FaultProperty, WhatIsWrittenIsReadBack) {
  std::mt19937_64 random(7);
  for (int i = 0; i < 5000; ++i) {
    const Fault fault = random_fault(random);
    EXPECT_EQ(parsed(to_string(fault)), fault) << to_string(fault);
  }
}

TEST(FaultProperty, DamagedSpecificationsAreReadOrRefusedByName) {
  std::mt19937_64 random(8);
  const std::string alphabet = "slow_rank:=,-.0123456789eE+x\xff ";
  int refused = 0;
  for (int i = 0; i < 20'000; ++i) {
    std::string specification = to_string(random_fault(random));
    for (std::size_t edits = 1 + random() % 3; edits > 0; --edits) {
      const std::size_t at = random() % (specification.size() + 1);
      const char letter = alphabet[random() % alphabet.size()];
      switch (random() % 3) {
        case 0:
          specification.insert(at, 1, letter);
          break;
        case 1:
          specification.erase(at, 1 + random() % 4);
          break;
        default:
          if (at < specification.size()) specification[at] = letter;
      }
    }
    const Result<Fault> fault = parse_fault(specification);
    if (fault.ok()) {
      EXPECT_EQ(parsed(to_string(fault.value())), fault.value()) << specification;
    } else {
      ++refused;
      EXPECT_THAT(fault.error().message, HasSubstr(specification));
    }
  }
  EXPECT_GT(refused, 1000);
}

}  // namespace
}  // namespace lockstep::trainer
