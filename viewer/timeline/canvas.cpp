#include "viewer/timeline/canvas.h"

#include <algorithm>

#include "analyzer/report/unicode.h"

namespace lockstep::viewer {

std::string fitted(const Canvas& canvas, std::string_view text, float width, Font font) {
  // No screen shows more than this of a name.
  constexpr std::size_t kMost = 512;
  const bool cut = text.size() > kMost;
  if (cut) {
    std::size_t end = kMost;
    while (end > kMost - 4 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;
    text = text.substr(0, end);
  }
  std::string whole = analyzer::printable(text);
  if (!cut && canvas.text_width(whole, font) <= width) return whole;

  // Longest beginning, at a character's border, that fits together with the ellipsis.
  constexpr std::string_view kEllipsis = "…";
  const float room = width - canvas.text_width(kEllipsis, font);
  if (room <= 0) return {};
  std::size_t low = 0;
  std::size_t high = whole.size();
  const auto border = [&](std::size_t at) {
    while (at > 0 && at < whole.size() && (static_cast<unsigned char>(whole[at]) & 0xC0) == 0x80) --at;
    return at;
  };
  while (low < high) {
    const std::size_t middle = (low + high + 1) / 2;
    if (canvas.text_width(std::string_view(whole).substr(0, border(middle)), font) <= room) {
      low = middle;
    } else {
      high = middle - 1;
    }
  }
  low = border(low);
  if (low == 0) return {};
  whole.resize(low);
  whole += kEllipsis;
  return whole;
}

std::vector<std::string> lines_of(const Canvas& canvas, std::string_view text, float width, Font font,
                                  std::size_t most) {
  constexpr std::size_t kMost = 2'000;
  std::vector<std::string> lines;
  text = text.substr(0, kMost);
  while (!text.empty() && lines.size() < most) {
    // As many words as fit; at least one, which is cut where it is longer than a line.
    std::size_t end = std::min(text.find(' '), text.size());
    while (end < text.size()) {
      const std::size_t next = std::min(text.find(' ', end + 1), text.size());
      if (canvas.text_width(analyzer::printable(text.substr(0, next)), font) > width) break;
      end = next;
    }
    if (lines.size() + 1 == most) end = text.size();
    lines.push_back(fitted(canvas, text.substr(0, end), width, font));
    text.remove_prefix(std::min(text.find_first_not_of(' ', end), text.size()));
  }
  return lines;
}

}  // namespace lockstep::viewer
