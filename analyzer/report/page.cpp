#include "analyzer/report/page.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "analyzer/report/unicode.h"

namespace lockstep::analyzer {
namespace {

// The nearest colour of the 6·6·6 cube or the grey ramp of a 256-colour terminal.
int nearest_palette_index(std::uint32_t rgb) {
  static constexpr std::array<int, 6> kSteps{0, 95, 135, 175, 215, 255};
  const std::array<int, 3> want{static_cast<int>(rgb >> 16 & 255), static_cast<int>(rgb >> 8 & 255),
                                static_cast<int>(rgb & 255)};
  const auto distance = [&](int r, int g, int b) {
    return (r - want[0]) * (r - want[0]) + (g - want[1]) * (g - want[1]) + (b - want[2]) * (b - want[2]);
  };
  int best = 0, best_distance = 1 << 30;
  for (int i = 16; i < 256; ++i) {
    const int cube = i - 16, grey = 8 + (i - 232) * 10;
    const int d = i >= 232 ? distance(grey, grey, grey)
                           : distance(kSteps[cube / 36], kSteps[cube / 6 % 6], kSteps[cube % 6]);
    if (d < best_distance) best = i, best_distance = d;
  }
  return best;
}

// Half way to the page's background: what stands behind a swatch, so that its glyph stays visible on it.
std::uint32_t shade(std::uint32_t rgb, bool dark_background) {
  std::uint32_t shaded = 0;
  for (const int shift : {16, 8, 0}) {
    const std::uint32_t channel = rgb >> shift & 255;
    shaded |= (dark_background ? channel * 5 / 8 : 255 - (255 - channel) * 5 / 8) << shift;
  }
  return shaded;
}

// SGR parameters for a colour: `layer` is 38 for text, 48 for what stands behind it.
std::string color_code(int layer, std::uint32_t rgb, ColorDepth depth) {
  if (depth != ColorDepth::true_color) return fmt::format("{};5;{}", layer, nearest_palette_index(rgb));
  return fmt::format("{};2;{};{};{}", layer, rgb >> 16 & 255, rgb >> 8 & 255, rgb & 255);
}

std::string escape_sequence(const Span& span, const PageOptions& options) {
  std::string codes;
  const auto add = [&](const std::string& code) { codes += codes.empty() ? code : ';' + code; };
  if (span.emphasis == Emphasis::bold) add("1");
  if (span.emphasis == Emphasis::dim) add("2");
  if (span.cause) {
    const CauseStyle& style = style_of(*span.cause);
    const std::uint32_t rgb = options.dark_background ? style.rgb_dark : style.rgb_light;
    add(color_code(38, rgb, options.color));
    if (span.swatch) add(color_code(48, shade(rgb, options.dark_background), options.color));
  }
  return codes.empty() ? "" : fmt::format("\x1b[{}m", codes);
}

bool is_unit(std::string_view word) {
  while (!word.empty() && std::string_view(".,;:)").find(word.back()) != std::string_view::npos)
    word.remove_suffix(1);
  static constexpr std::array<std::string_view, 14> kUnits{
      "ns", "µs", "ms", "s", "%", "B", "kB", "MB", "GB", "TB", "MB/s", "GB/s", "Mbit/s", "Gbit/s"};
  return std::find(kUnits.begin(), kUnits.end(), word) != kUnits.end();
}

// Words with their styles; a word may consist of several spans ("(" + bold "13.0 ms" + ")").
std::vector<Line> split_into_words(const Line& line) {
  std::vector<Line> words(1);
  std::string last;  // text of the word in the making
  for (const Span& span : line.spans()) {
    std::string_view rest = span.text;
    while (!rest.empty()) {
      const std::size_t space = rest.find(' ');
      const std::string_view piece = rest.substr(0, space);
      words.back().add({std::string(piece), span.emphasis, span.cause, span.swatch});
      last += piece;
      if (space == std::string_view::npos) break;
      rest.remove_prefix(space + 1);
      const std::string_view next = rest.substr(0, rest.find(' '));
      const bool number = !last.empty() && last.find_first_of("0123456789<>") != std::string::npos;
      if (number && (is_unit(next) || last.back() == '<' || last.back() == '>')) {
        words.back().add({" ", span.emphasis, span.cause, span.swatch});
        last += ' ';
      } else if (!last.empty()) {
        words.emplace_back();
        last.clear();
      }
    }
  }
  return words;
}

}  // namespace

Line& Line::add(Span span) {
  if (!span.text.empty()) spans_.push_back(std::move(span));
  return *this;
}

Line& Line::add(const Line& other) {
  spans_.insert(spans_.end(), other.spans_.begin(), other.spans_.end());
  return *this;
}

std::size_t Line::width() const {
  std::size_t sum = 0;
  for (const Span& span : spans_) sum += display_width(span.text);
  return sum;
}

Line& Line::pad_to(std::size_t columns) {
  const std::size_t used = width();
  return used < columns ? text(std::string(columns - used, ' ')) : *this;
}

void Page::add(const Line& line) {
  std::string text;
  for (const Span& span : line.spans()) {
    const std::string escape = options_.color == ColorDepth::none ? "" : escape_sequence(span, options_);
    text += escape;
    const std::string shown = printable(span.text);
    text += options_.ascii ? to_ascii(shown) : shown;
    if (!escape.empty()) text += "\x1b[0m";
  }
  text.erase(text.find_last_not_of(' ') + 1);
  out_ += text + "\n";
}

void Page::wrap(const Line& line, std::size_t indent, std::size_t hanging) {
  Line current;
  current.pad_to(indent);
  bool empty = true;
  for (const Line& word : split_into_words(line)) {
    if (!empty && current.width() + 1 + word.width() > options_.width) {
      add(current);
      current = Line{}.pad_to(hanging);
      empty = true;
    }
    if (!empty) current.text(" ");
    current.add(word);
    empty = false;
  }
  add(current);
}

Line stacked_bar(const Partition& partition, std::int64_t scale_ns, std::size_t columns, bool ascii) {
  Line bar;
  if (scale_ns <= 0) return bar;
  const auto cells = [&](std::int64_t ns) {
    const double share = static_cast<double>(ns) / static_cast<double>(scale_ns);
    return std::min(columns,
                    static_cast<std::size_t>(std::max(0.0, share * static_cast<double>(columns) + 0.5)));
  };
  std::int64_t sum = 0;
  std::size_t drawn = 0;
  for (const CauseStyle& style : kCauseStyles) {
    sum += std::max<std::int64_t>(0, partition[style.cause]);
    std::string text;
    for (; drawn < cells(sum); ++drawn) {
      if (ascii) {
        text += style.ascii;
      } else {
        text += style.glyph;
      }
    }
    bar.swatch(text, style.cause);
  }
  return bar;
}

}  // namespace lockstep::analyzer
