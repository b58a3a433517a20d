#include "viewer/timeline/theme.h"

#include <algorithm>
#include <cmath>

#include "analyzer/report/palette.h"

namespace lockstep::viewer {

namespace {

using analyzer::Cause;

Color rgb(std::uint32_t value) {
  return {static_cast<std::uint8_t>(value >> 16), static_cast<std::uint8_t>(value >> 8),
          static_cast<std::uint8_t>(value), 255};
}

// -1 to 1, the same for the same name on every machine (FNV-1a over the beginning, which is all that is ever
// shown).
double variation(std::string_view name) {
  std::uint32_t hash = 2166136261u;
  for (const char c : name.substr(0, 256)) hash = (hash ^ static_cast<unsigned char>(c)) * 16777619u;
  hash ^= hash >> 15;
  return static_cast<double>(hash % 9) / 4.0 - 1.0;
}

Color vary(Color color, std::string_view name, double strength) {
  if (name.empty()) return color;
  const double amount = variation(name) * strength;
  return amount < 0 ? mix(color, rgb(0x000000), -amount) : mix(color, rgb(0xFFFFFF), amount);
}

}  // namespace

Theme dark_theme() {
  Theme theme;
  theme.dark = true;
  theme.background = rgb(0x14171C);
  theme.panel = rgb(0x1B1F26);
  theme.stripe = rgb(0x1B1F26);
  theme.edge = rgb(0x2B313B);
  theme.grid = rgb(0x232830);
  theme.text = rgb(0xE4E7EC);
  theme.dim_text = rgb(0x8D97A5);
  theme.on_box = rgb(0xFFFFFF);
  theme.host = rgb(0x46505F);
  theme.accent = rgb(0xFFFFFF);
  theme.lit = rgb(0xFFFFFF);
  theme.found = rgb(0xF47AE0);
  theme.warning = rgb(0xF2B134);
  return theme;
}

Theme light_theme() {
  Theme theme;
  theme.dark = false;
  theme.background = rgb(0xFFFFFF);
  theme.panel = rgb(0xF3F5F8);
  theme.stripe = rgb(0xF3F5F8);
  theme.edge = rgb(0xD5DAE1);
  theme.grid = rgb(0xE6E9EE);
  theme.text = rgb(0x1A1F27);
  theme.dim_text = rgb(0x626C7A);
  theme.on_box = rgb(0xFFFFFF);
  theme.host = rgb(0xBAC3CF);
  theme.accent = rgb(0x000000);
  theme.lit = rgb(0x000000);
  theme.found = rgb(0xB5128F);
  theme.warning = rgb(0xA66A00);
  return theme;
}

Color with_alpha(Color color, double alpha) {
  color.a = static_cast<std::uint8_t>(std::lround(std::clamp(alpha, 0.0, 1.0) * 255));
  return color;
}

Color mix(Color from, Color to, double share) {
  const double amount = std::clamp(share, 0.0, 1.0);
  const auto channel = [amount](std::uint8_t a, std::uint8_t b) {
    return static_cast<std::uint8_t>(std::lround(a + (b - a) * amount));
  };
  return {channel(from.r, to.r), channel(from.g, to.g), channel(from.b, to.b), 255};
}

Color cause_color(const Theme& theme, Cause cause) {
  const analyzer::CauseStyle& style = analyzer::style_of(cause);
  return rgb(theme.dark ? style.rgb_dark : style.rgb_light);
}

Color spending_color(analyzer::Spending spending) {
  return rgb(analyzer::style_of(spending).rgb);
}

bool is_waiting(Cause cause) {
  return cause == Cause::barrier_wait || cause == Cause::pipeline_bubble;
}

Color activity_color(const Theme& theme, analyzer::Class activity_class, std::string_view name) {
  switch (activity_class) {
    case analyzer::Class::compute:
      return vary(cause_color(theme, Cause::compute), name, 0.16);
    case analyzer::Class::collective:
    case analyzer::Class::p2p:
      return cause_color(theme, Cause::transfer);
    case analyzer::Class::copy:
      return cause_color(theme, Cause::copy);
    case analyzer::Class::sync:
      // The host waits; the device does nothing for it, so that it has none of the causes' colours.
      return mix(theme.stripe, theme.dim_text, 0.16);
    case analyzer::Class::unclassified:
      break;
  }
  return cause_color(theme, Cause::other);
}

Color host_color(const Theme& theme, analyzer::HostKind kind, std::string_view name) {
  if (kind == analyzer::HostKind::data_loading)
    return mix(theme.host, cause_color(theme, Cause::data_wait), 0.7);
  return vary(theme.host, name, theme.dark ? 0.12 : 0.10);
}

Color readable_on(Color background) {
  const auto linear = [](std::uint8_t value) {
    const double share = value / 255.0;
    return share <= 0.03928 ? share / 12.92 : std::pow((share + 0.055) / 1.055, 2.4);
  };
  const double luminance =
      0.2126 * linear(background.r) + 0.7152 * linear(background.g) + 0.0722 * linear(background.b);
  return (1.05 / (luminance + 0.05)) >= (luminance + 0.05) / 0.05 ? rgb(0xFFFFFF) : rgb(0x101418);
}

}  // namespace lockstep::viewer
