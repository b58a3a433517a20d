# Dear ImGui (docking) and ImPlot out of the imgui-bundle source package, GLFW and OpenGL from the system.
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
