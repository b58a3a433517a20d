# Where everything that we did not write comes from: system packages, and wheels and source packages that
# scripts/setup puts into the cache folder (LOCKSTEP_CACHE, default ~/.cache/lockstep).
if(DEFINED ENV{LOCKSTEP_CACHE})
  set(lockstep_default_cache "$ENV{LOCKSTEP_CACHE}")
elseif(DEFINED ENV{XDG_CACHE_HOME})
  set(lockstep_default_cache "$ENV{XDG_CACHE_HOME}/lockstep")
else()
  set(lockstep_default_cache "$ENV{HOME}/.cache/lockstep")
endif()
set(LOCKSTEP_CACHE "${lockstep_default_cache}" CACHE PATH "What scripts/setup fetched")
set(LOCKSTEP_WHEELS "${LOCKSTEP_CACHE}/torch-2.11.0" CACHE PATH "Folder that holds the unpacked torch wheel")
# The headers alone, where libtorch is not wanted.
set(LOCKSTEP_CUDA_HEADERS "${LOCKSTEP_CACHE}/cuda-headers-13.0/nvidia/cu13/include")
set(LOCKSTEP_IMGUI_BUNDLE "${LOCKSTEP_CACHE}/imgui-bundle-1.93.0" CACHE PATH "Unpacked imgui-bundle sources")

find_package(Threads REQUIRED)
find_package(PkgConfig REQUIRED)
find_package(ZLIB REQUIRED)
find_package(fmt REQUIRED)
find_package(simdjson REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(CLI11 REQUIRED)
find_package(SQLite3 REQUIRED)

# zstd: the static library, because it goes into other people's processes and must bring no shared object along.
find_path(ZSTD_INCLUDE_DIR zstd.h REQUIRED)
find_library(ZSTD_STATIC_LIBRARY NAMES libzstd.a REQUIRED)
add_library(zstd::static STATIC IMPORTED)
set_target_properties(zstd::static PROPERTIES IMPORTED_LOCATION "${ZSTD_STATIC_LIBRARY}"
                      INTERFACE_INCLUDE_DIRECTORIES "${ZSTD_INCLUDE_DIR}")

# protozero: header-only protobuf encoder (the Perfetto export).
find_path(PROTOZERO_INCLUDE_DIR protozero/pbf_writer.hpp REQUIRED)
add_library(protozero INTERFACE)
target_include_directories(protozero SYSTEM INTERFACE "${PROTOZERO_INCLUDE_DIR}")

# Boost.Math's distributions and toml++, headers only: the statistics and the policies of `lockstep check`.
find_path(BOOST_INCLUDE_DIR boost/math/distributions/students_t.hpp REQUIRED)
find_path(TOMLPLUSPLUS_INCLUDE_DIR toml++/toml.h REQUIRED)

# RE2: patterns that people type, without surprises.
# (Not by pkg-config, whose -pthread would forbid the precompiled headers.)
find_path(RE2_INCLUDE_DIR re2/re2.h REQUIRED)
find_library(RE2_LIBRARY NAMES re2 REQUIRED)
add_library(re2_library INTERFACE)
target_include_directories(re2_library SYSTEM INTERFACE "${RE2_INCLUDE_DIR}")
target_link_libraries(re2_library INTERFACE "${RE2_LIBRARY}" Threads::Threads)

# NVTX 3: headers only, from the CUDA toolkit or from the nvidia-nvtx wheel.
find_path(NVTX_INCLUDE_DIR nvtx3/nvToolsExtPayload.h REQUIRED
          HINTS "${LOCKSTEP_WHEELS}/nvidia/cu13/include" "${LOCKSTEP_CUDA_HEADERS}" /usr/local/cuda/include)
add_library(nvtx3 INTERFACE)
target_include_directories(nvtx3 SYSTEM INTERFACE "${NVTX_INCLUDE_DIR}")
target_link_libraries(nvtx3 INTERFACE ${CMAKE_DL_LIBS})

# CUPTI and the CUDA driver: headers only, from the CUDA toolkit or from the wheels. CUPTI itself is looked for at run time.
find_path(CUPTI_INCLUDE_DIR cupti_activity.h REQUIRED
          HINTS "${LOCKSTEP_WHEELS}/nvidia/cu13/include" "${LOCKSTEP_CUDA_HEADERS}" /usr/local/cuda/include /usr/local/cuda/extras/CUPTI/include)
find_path(CUDA_INCLUDE_DIR cuda.h REQUIRED HINTS "${CUPTI_INCLUDE_DIR}" /usr/local/cuda/include)
add_library(cupti_headers INTERFACE)
target_include_directories(cupti_headers SYSTEM INTERFACE "${CUPTI_INCLUDE_DIR}" "${CUDA_INCLUDE_DIR}")

if(LOCKSTEP_TESTS)
  find_package(GTest REQUIRED)
  include(GoogleTest)
endif()
if(LOCKSTEP_BENCHMARKS)
  find_package(benchmark REQUIRED)
endif()
if(LOCKSTEP_TRAINER)
  include(libtorch)
endif()
if(LOCKSTEP_VIEWER)
  include(imgui)
endif()
