# What the viewer alone needs. Dear ImGui (docking) and ImPlot out of the imgui-bundle source package, GLFW and OpenGL from the system.
set(imgui_root "${LOCKSTEP_IMGUI_BUNDLE}/external/imgui/imgui")
if(NOT EXISTS "${imgui_root}/imgui.cpp")
  message(FATAL_ERROR "Dear ImGui not found in ${imgui_root}: run scripts/setup, "
                      "or configure with -DLOCKSTEP_VIEWER=OFF to build without the viewer")
endif()
find_package(glfw3 REQUIRED)
find_package(OpenGL REQUIRED)
add_library(lockstep_imgui STATIC
  "${imgui_root}/imgui.cpp" "${imgui_root}/imgui_draw.cpp" "${imgui_root}/imgui_tables.cpp"
  "${imgui_root}/imgui_widgets.cpp" "${imgui_root}/imgui_stacklayout.cpp"
  "${imgui_root}/backends/imgui_impl_glfw.cpp" "${imgui_root}/backends/imgui_impl_opengl3.cpp")
target_include_directories(lockstep_imgui SYSTEM PUBLIC "${imgui_root}" "${imgui_root}/backends")
target_link_libraries(lockstep_imgui PUBLIC glfw OpenGL::GL ${CMAKE_DL_LIBS})

set(implot_root "${LOCKSTEP_IMGUI_BUNDLE}/external/implot/implot")
add_library(lockstep_implot STATIC "${implot_root}/implot.cpp" "${implot_root}/implot_items.cpp")
target_include_directories(lockstep_implot SYSTEM PUBLIC "${implot_root}")
target_link_libraries(lockstep_implot PUBLIC lockstep_imgui)

# cereal: header-only, to keep a prepared run's small parts. RE2: patterns that people type, without surprises.
find_path(CEREAL_INCLUDE_DIR cereal/cereal.hpp REQUIRED)
add_library(cereal INTERFACE)
target_include_directories(cereal SYSTEM INTERFACE "${CEREAL_INCLUDE_DIR}")
# (Not by pkg-config, whose -pthread would forbid the precompiled headers.)
find_path(RE2_INCLUDE_DIR re2/re2.h REQUIRED)
find_library(RE2_LIBRARY NAMES re2 REQUIRED)
add_library(re2_library INTERFACE)
target_include_directories(re2_library SYSTEM INTERFACE "${RE2_INCLUDE_DIR}")
target_link_libraries(re2_library INTERFACE "${RE2_LIBRARY}" Threads::Threads)
