// How Dear ImGui, ImPlot and the viewer's window are compiled for tests that drive it (viewer/journey): with
// the hooks of Dear ImGui's Test Engine, and with assertions that are failures of the test instead of its
// end.
#pragma once

#define IMGUI_TEST_ENGINE_ENABLE_CAPTURE 0
#define IMGUI_TEST_ENGINE_ENABLE_STD_FUNCTION 1
#define IMGUI_TEST_ENGINE_ENABLE_COROUTINE_STDTHREAD_IMPL 1
#include <imgui_te_imconfig.h>

#define IM_ASSERT(condition)                                                               \
  do {                                                                                     \
    if (!(condition)) ImGuiTestEngine_AssertLog(#condition, __FILE__, __func__, __LINE__); \
  } while (false)
