// Fonts and the pattern of stripes, in Dear ImGui's atlas.
#pragma once

#include <imgui.h>

#include <filesystem>
#include <vector>

namespace lockstep::viewer {

struct Fonts {
  ImFont* regular = nullptr;
  ImFont* bold = nullptr;
  // The embedded font has no "µ", "…", "−": text is spelled in ASCII.
  bool ascii = false;
  // Sizes in pixels.
  float normal_size = 14;
  float small_size = 12;
  // Stripes: a custom rectangle of the atlas, `stripe_width` × `stripe_height` pixels.
  ImFontAtlasRectId stripes = -1;
  int stripe_width = 0;
  int stripe_height = 0;
};

// Where DejaVu Sans is looked for.
std::vector<std::filesystem::path> font_folders();

// To be called once, before the first frame. DejaVu Sans where the system has it, else Dear ImGui's embedded
// font.
Fonts load_fonts(float scale, const std::vector<std::filesystem::path>& folders = font_folders());

}  // namespace lockstep::viewer
