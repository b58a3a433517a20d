#include "viewer/widgets/fonts.h"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace lockstep::viewer {

namespace {

ImFont* load(const std::vector<std::filesystem::path>& folders, const char* file, float size) {
  for (const std::filesystem::path& folder : folders) {
    const std::filesystem::path path = folder / file;
    std::error_code error;
    if (!std::filesystem::is_regular_file(path, error)) continue;
    ImFontConfig config;
    config.Flags |= ImFontFlags_NoLoadError;
    if (ImFont* font = ImGui::GetIO().Fonts->AddFontFromFileTTF(path.c_str(), size, &config)) return font;
  }
  return nullptr;
}

// Diagonal stripes with smooth edges, repeating seamlessly over the rectangle's width.
void draw_stripes(Fonts& fonts, float scale) {
  const int period = std::max(6, static_cast<int>(std::lround(7 * scale)));
  const double thickness = period * 0.30;
  fonts.stripe_width = period * 32;
  fonts.stripe_height = static_cast<int>(std::lround(40 * scale));
  ImFontAtlas& atlas = *ImGui::GetIO().Fonts;
  ImFontAtlasRect place;
  fonts.stripes = atlas.AddCustomRect(fonts.stripe_width, fonts.stripe_height, &place);
  if (fonts.stripes == -1) return;
  for (int y = 0; y < fonts.stripe_height; ++y) {
    for (int x = 0; x < fonts.stripe_width; ++x) {
      const double along = std::fmod(x + y + 1.0, period);
      const double away = std::min(along, period - along) * std::sqrt(0.5);
      const double cover = std::clamp(thickness / 2 - away + 0.5, 0.0, 1.0);
      const auto alpha = static_cast<unsigned char>(std::lround(cover * 255));
      auto* pixel = static_cast<unsigned char*>(atlas.TexData->GetPixelsAt(place.x + x, place.y + y));
      if (atlas.TexData->BytesPerPixel == 1) {
        *pixel = alpha;
      } else {
        const unsigned char white[4] = {255, 255, 255, alpha};
        std::memcpy(pixel, white, sizeof white);
      }
    }
  }
}

}  // namespace

std::vector<std::filesystem::path> font_folders() {
  return {"/usr/share/fonts/truetype/dejavu", "/usr/share/fonts/dejavu-sans-fonts", "/usr/share/fonts/TTF",
          "/usr/share/fonts/dejavu"};
}

Fonts load_fonts(float scale, const std::vector<std::filesystem::path>& folders) {
  Fonts fonts;
  fonts.normal_size = std::round(13 * scale);
  fonts.small_size = std::round(11 * scale);
  fonts.regular = load(folders, "DejaVuSans.ttf", fonts.normal_size);
  fonts.bold = load(folders, "DejaVuSans-Bold.ttf", fonts.normal_size);
  if (fonts.regular == nullptr) {
    fonts.regular = ImGui::GetIO().Fonts->AddFontDefault();
    fonts.ascii = true;
  }
  if (fonts.bold == nullptr) fonts.bold = fonts.regular;
  ImGui::GetIO().FontDefault = fonts.regular;
  ImGui::GetStyle().FontSizeBase = fonts.normal_size;
  draw_stripes(fonts, scale);
  return fonts;
}

}  // namespace lockstep::viewer
