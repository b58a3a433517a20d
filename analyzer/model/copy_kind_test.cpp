#include "analyzer/model/copy_kind.h"

#include <gtest/gtest.h>

#include <string_view>
#include <utility>

namespace lockstep::analyzer {
namespace {

TEST(CopyKind, IsReadFromTheNamesOfKinetoNsysAndTheRecorder) {
  constexpr std::pair<std::string_view, CopyKind> kExpected[] = {
      {"Memcpy HtoD (Pageable -> Device)", CopyKind::pageable_to_device},
      {"Memcpy HtoD (Pinned -> Device)", CopyKind::pinned_to_device},
      {"Memcpy HtoD (Managed -> Device)", CopyKind::host_to_device},
      {"Memcpy HtoD", CopyKind::host_to_device},
      {"Memcpy DtoH (Device -> Pageable)", CopyKind::device_to_pageable},
      {"Memcpy DtoH (Device -> Pinned)", CopyKind::device_to_pinned},
      {"Memcpy DtoH", CopyKind::device_to_host},
      {"Memcpy DtoD (Device -> Device)", CopyKind::device_to_device},
      {"Memcpy PtoP (GPU 0 -> GPU 1)", CopyKind::other},
      {"Memset (Device)", CopyKind::fill},
      {"Memset", CopyKind::fill},
      {"copy", CopyKind::other},
      {"", CopyKind::other}};
  for (const auto& [name, kind] : kExpected) EXPECT_EQ(copy_kind(name), kind) << name;
}

}  // namespace
}  // namespace lockstep::analyzer
