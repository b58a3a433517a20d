// One look per cause, the same in the text report, the exports and the viewer: label, colour, glyph.
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
  const char* label;        // what people read: "barrier wait"
  std::uint32_t rgb_light;  // 0xRRGGBB, on a light background
  std::uint32_t rgb_dark;   // 0xRRGGBB, on a dark background
  const char* glyph;        // UTF-8, one column wide
  char ascii;               // the same where only ASCII can be shown
};

// In the order of Cause.
inline constexpr std::array<CauseStyle, kCauseCount> kCauseStyles{{
    {Cause::compute, "compute", 0x009E73, 0x1FA37F, "█", '#'},
    {Cause::transfer, "transfer", 0x0067A5, 0x2F7FD0, "▓", '='},
    {Cause::barrier_wait, "barrier wait", 0xD55E00, 0xE8702A, "▒", 'w'},
    {Cause::pipeline_bubble, "pipeline bubble", 0xB5538A, 0xD884B8, "▚", 'b'},
    {Cause::copy, "copy", 0x4AA8E0, 0x7CC8F5, "▄", 'c'},
    {Cause::data_wait, "data wait", 0xD9C400, 0xF0E442, "▂", 'd'},
    {Cause::host_bound, "host-bound", 0xE69F00, 0xF2B134, "░", 'h'},
    {Cause::queued, "queued", 0x9A9A9A, 0x8C8C8C, "·", '.'},
    {Cause::other, "other", 0x5E5E5E, 0x5A5A5A, "╌", '-'},
}};

inline constexpr const CauseStyle& style_of(Cause cause) {
  return kCauseStyles[static_cast<std::size_t>(cause)];
}

}  // namespace lockstep::analyzer
