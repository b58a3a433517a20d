// The causes, each declared once: its name in documents, and one look, the same in the text report, the page,
// the exports and the viewer: label, colour, glyph.
//
// The colours are told apart with every kind of colour blindness (palette_test.cpp measures it); what makes a
// rank wait is warm, work is cool, what is neither is grey. No information hangs on colour alone: glyphs and
// letters differ too.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "analyzer/report/report.h"

namespace lockstep::analyzer {

struct CauseStyle {
  Cause cause;
  const char* key;          // in documents: "barrier_wait"
  const char* label;        // what people read: "barrier wait"
  std::uint32_t rgb_light;  // 0xRRGGBB, on a light background
  std::uint32_t rgb_dark;   // 0xRRGGBB, on a dark background
  const char* glyph;        // UTF-8, one column wide
  char ascii;               // the same where only ASCII can be shown
};

// In the order of Cause.
inline constexpr std::array<CauseStyle, kCauseCount> kCauseStyles{{
    {Cause::compute, "compute", "compute", 0x00956B, 0x29A47B, "█", '#'},
    {Cause::transfer, "transfer", "transfer", 0x1F5FC4, 0x3B6FE0, "▓", '='},
    {Cause::barrier_wait, "barrier_wait", "barrier wait", 0xBE3601, 0xD84B27, "▒", 'w'},
    {Cause::pipeline_bubble, "pipeline_bubble", "pipeline bubble", 0xA8579B, 0xCB70AE, "▚", 'b'},
    {Cause::copy, "copy", "copy", 0x50B9F3, 0x7ECFFE, "▄", 'c'},
    {Cause::data_wait, "data_wait", "data wait", 0xF2CA26, 0xF4E53D, "▂", 'd'},
    {Cause::host_bound, "host_bound", "host-bound", 0xDC8112, 0xE89115, "░", 'h'},
    {Cause::queued, "queued", "queued", 0xBDBDBD, 0xC0C0C0, "·", '.'},
    {Cause::other, "other", "other", 0x4A4A4A, 0x5C5C5C, "╌", '-'},
}};

inline constexpr const CauseStyle& style_of(Cause cause) {
  return kCauseStyles[static_cast<std::size_t>(cause)];
}

// What a run's wall time goes into: one colour each, the same on a light and on a dark background, beside its
// name and its share wherever it is drawn. Of neighbours in the order of a run's life one is never taken for
// the other; what is no training is grey.
struct SpendingStyle {
  Spending spending;
  std::uint32_t rgb;  // 0xRRGGBB
};

// In the order of Spending.
inline constexpr std::array<SpendingStyle, kSpendingCount> kSpendingStyles{{
    {Spending::not_recorded, 0xB9BEC6},
    {Spending::compilation, 0x8E6BBF},
    {Spending::checkpoint, 0xD18F2E},
    {Spending::evaluation, 0x4F9BB8},
    {Spending::after_failure, 0xC8453B},
    {Spending::start_up, 0x7F8894},
    {Spending::warm_up, 0xD9C49A},
    {Spending::steady, 0x3F8F5B},
    {Spending::shutdown, 0x5D6570},
    {Spending::other, 0x9AA1AB},
}};

inline constexpr const SpendingStyle& style_of(Spending spending) {
  return kSpendingStyles[static_cast<std::size_t>(spending)];
}

}  // namespace lockstep::analyzer
