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
# Plots of doubles are all that there are: for every type of number there is, it takes minutes to compile.
target_compile_definitions(lockstep_implot PUBLIC "IMPLOT_CUSTOM_NUMERIC_TYPES=(double)")

# cereal: header-only, to keep a prepared run's small parts.
find_path(CEREAL_INCLUDE_DIR cereal/cereal.hpp REQUIRED)
add_library(cereal INTERFACE)
target_include_directories(cereal SYSTEM INTERFACE "${CEREAL_INCLUDE_DIR}")

# For tests that are a second X client beside lockstep-view, with mouse and keyboard (XTEST).
if(LOCKSTEP_TESTS)
  find_package(X11 REQUIRED)
  if(NOT TARGET X11::Xtst)
    message(FATAL_ERROR "The X test library not found: run scripts/setup (package libxtst-dev), "
                        "or configure with -DLOCKSTEP_TESTS=OFF")
  endif()
endif()

# Once more for tests that drive the window: with Dear ImGui's Test Engine, and with the hooks for it that lockstep-view has not.
# viewer/testing/imgui_test_config.h says how.
if(LOCKSTEP_TESTS)
  set(test_engine_root "${LOCKSTEP_IMGUI_BUNDLE}/external/imgui_test_engine/imgui_test_engine/imgui_test_engine")
  get_target_property(imgui_sources lockstep_imgui SOURCES)
  get_target_property(implot_sources lockstep_implot SOURCES)
  add_library(lockstep_imgui_with_test_engine STATIC
    ${imgui_sources} ${implot_sources}
    "${test_engine_root}/imgui_capture_tool.cpp" "${test_engine_root}/imgui_te_context.cpp"
    "${test_engine_root}/imgui_te_coroutine.cpp" "${test_engine_root}/imgui_te_engine.cpp"
    "${test_engine_root}/imgui_te_exporters.cpp" "${test_engine_root}/imgui_te_perftool.cpp"
    "${test_engine_root}/imgui_te_ui.cpp" "${test_engine_root}/imgui_te_utils.cpp")
  target_include_directories(lockstep_imgui_with_test_engine SYSTEM PUBLIC
    "${imgui_root}" "${imgui_root}/backends" "${implot_root}" "${test_engine_root}")
  target_include_directories(lockstep_imgui_with_test_engine PUBLIC "${PROJECT_SOURCE_DIR}")
  target_compile_definitions(lockstep_imgui_with_test_engine PUBLIC
    IMGUI_USER_CONFIG="viewer/testing/imgui_test_config.h" "IMPLOT_CUSTOM_NUMERIC_TYPES=(double)")
  # It draws a few frames: optimizing it would take longer.
  target_compile_options(lockstep_imgui_with_test_engine PRIVATE $<$<CONFIG:Release>:-O1>)
  target_link_libraries(lockstep_imgui_with_test_engine PUBLIC glfw OpenGL::GL Threads::Threads ${CMAKE_DL_LIBS})
endif()
