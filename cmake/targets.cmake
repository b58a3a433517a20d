# One folder is one library, its tests, its benchmark and its fuzzer: a helper for each says so in a line.

# The headers that nearly every file includes, compiled once for all libraries: they are half of what a file takes. Files include
# what they use all the same: -DCMAKE_DISABLE_PRECOMPILE_HEADERS=ON builds without.
set(LOCKSTEP_LIBRARY_OPTIONS ${LOCKSTEP_WARNINGS} $<$<CONFIG:Release>:-ffunction-sections -fdata-sections>)
set(LOCKSTEP_COMMON_HEADERS
  <algorithm> <array> <cmath> <cstdint> <filesystem> <functional> <map> <memory> <optional> <set> <span> <string> <string_view>
  <unordered_map> <utility> <variant> <vector> <fmt/format.h>)
file(CONFIGURE OUTPUT "${PROJECT_BINARY_DIR}/common_headers.cpp" CONTENT "// A library needs an object.\n")
add_library(lockstep_common_headers STATIC "${PROJECT_BINARY_DIR}/common_headers.cpp")
target_compile_options(lockstep_common_headers PRIVATE ${LOCKSTEP_LIBRARY_OPTIONS})
target_link_libraries(lockstep_common_headers PRIVATE fmt::fmt)
target_precompile_headers(lockstep_common_headers PRIVATE ${LOCKSTEP_COMMON_HEADERS})
# Its headers are compiled with them.
set(LOCKSTEP_FMT_DEFINITIONS $<TARGET_PROPERTY:fmt::fmt,INTERFACE_COMPILE_DEFINITIONS>)

# lockstep_library(NAME SOURCES a.cpp b.cpp DEPENDS other_library fmt::fmt [OWN_HEADERS])
# In sections of their own, so that an executable takes of it what it uses (--gc-sections). OWN_HEADERS: without those above.
function(lockstep_library name)
  cmake_parse_arguments(arg "OWN_HEADERS" "" "SOURCES;DEPENDS" ${ARGN})
  add_library(${name} STATIC ${arg_SOURCES})
  target_include_directories(${name} PUBLIC "${PROJECT_SOURCE_DIR}")
  target_compile_options(${name} PRIVATE ${LOCKSTEP_LIBRARY_OPTIONS})
  target_link_libraries(${name} PUBLIC ${arg_DEPENDS})
  lockstep_compile_together(${name})
  if(NOT arg_OWN_HEADERS)
    target_compile_definitions(${name} PRIVATE ${LOCKSTEP_FMT_DEFINITIONS})
    target_precompile_headers(${name} REUSE_FROM lockstep_common_headers)
  endif()
endfunction()

# lockstep_executable(NAME SOURCES main.cpp DEPENDS library): goes to bin/, installed.
function(lockstep_executable name)
  cmake_parse_arguments(arg "" "" "SOURCES;DEPENDS" ${ARGN})
  add_executable(${name} ${arg_SOURCES})
  target_include_directories(${name} PRIVATE "${PROJECT_SOURCE_DIR}")
  target_compile_options(${name} PRIVATE ${LOCKSTEP_WARNINGS})
  target_link_libraries(${name} PRIVATE ${arg_DEPENDS})
  install(TARGETS ${name} RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endfunction()

# What is tested is optimized; the tests' own code need not be, and compiles in two thirds of the time (in half of it where UBSan
# checks every pointer).
set(LOCKSTEP_TEST_OPTIONS ${LOCKSTEP_WARNINGS} -O0)
# The tests' headers: those of an executable, because its code is compiled as theirs is.
if(LOCKSTEP_TESTS)
  add_executable(lockstep_test_headers "${CMAKE_CURRENT_LIST_DIR}/test_headers.cpp")
  target_compile_options(lockstep_test_headers PRIVATE ${LOCKSTEP_TEST_OPTIONS})
  target_link_libraries(lockstep_test_headers PRIVATE GTest::gmock GTest::gtest fmt::fmt)
  target_precompile_headers(lockstep_test_headers PRIVATE
    ${LOCKSTEP_COMMON_HEADERS} <gmock/gmock.h> <gtest/gtest.h> <fstream>)
  set_target_properties(lockstep_test_headers PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/tests")
endif()

# lockstep_test(NAME SOURCES a_test.cpp DEPENDS library [TIMEOUT seconds] [LABELS ...] [ALONE])
# ALONE: no other test runs beside it, because it measures.
function(lockstep_test name)
  if(NOT LOCKSTEP_TESTS)
    return()
  endif()
  cmake_parse_arguments(arg "ALONE" "TIMEOUT" "SOURCES;DEPENDS;LABELS" ${ARGN})
  if(NOT arg_TIMEOUT)
    set(arg_TIMEOUT 300)
  endif()
  if(NOT arg_LABELS)
    set(arg_LABELS unit)  # an empty list would take the next property for its value
  endif()
  add_executable(${name} ${arg_SOURCES})
  target_include_directories(${name} PRIVATE "${PROJECT_SOURCE_DIR}")
  target_compile_options(${name} PRIVATE ${LOCKSTEP_TEST_OPTIONS})
  target_precompile_headers(${name} REUSE_FROM lockstep_test_headers)
  lockstep_compile_together(${name})
  target_compile_definitions(${name} PRIVATE LOCKSTEP_SOURCE_DIR="${PROJECT_SOURCE_DIR}"
                             LOCKSTEP_BIN_DIR="${CMAKE_RUNTIME_OUTPUT_DIRECTORY}" ${LOCKSTEP_FMT_DEFINITIONS})
  target_link_libraries(${name} PRIVATE ${arg_DEPENDS} GTest::gmock GTest::gtest_main)
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/tests")
  gtest_discover_tests(${name} TEST_PREFIX "${name}." DISCOVERY_MODE PRE_TEST
                       DISCOVERY_TIMEOUT 60
                       PROPERTIES TIMEOUT ${arg_TIMEOUT} LABELS "${arg_LABELS}" RUN_SERIAL ${arg_ALONE})
endfunction()

# end_to_end_test(NAME [DEPENDS library] [NEEDS targets that must be built first] [ALONE]): NAME.cpp, which runs whole programs with
# what tests/end_to_end/ has for that; the target is end_to_end_NAME.
function(end_to_end_test name)
  if(NOT LOCKSTEP_TESTS OR NOT EXISTS "${CMAKE_CURRENT_SOURCE_DIR}/${name}.cpp")
    return()
  endif()
  cmake_parse_arguments(arg "ALONE" "" "NEEDS;DEPENDS" ${ARGN})
  set(alone "")
  if(arg_ALONE)
    set(alone ALONE)
  endif()
  lockstep_test(end_to_end_${name} ${alone} SOURCES ${name}.cpp TIMEOUT 600 LABELS end_to_end
                DEPENDS lockstep_end_to_end_support lockstep_trace nlohmann_json::nlohmann_json fmt::fmt ${arg_DEPENDS})
  add_dependencies(end_to_end_${name} lockstep ${arg_NEEDS})
endfunction()

# lockstep_benchmark(NAME SOURCES a_benchmark.cpp DEPENDS library): Google Benchmark, run by scripts/bench.
function(lockstep_benchmark name)
  if(NOT LOCKSTEP_BENCHMARKS)
    return()
  endif()
  cmake_parse_arguments(arg "" "" "SOURCES;DEPENDS" ${ARGN})
  add_executable(${name} ${arg_SOURCES})
  target_include_directories(${name} PRIVATE "${PROJECT_SOURCE_DIR}")
  target_compile_options(${name} PRIVATE ${LOCKSTEP_WARNINGS})
  target_compile_definitions(${name} PRIVATE LOCKSTEP_BIN_DIR="${CMAKE_RUNTIME_OUTPUT_DIRECTORY}")
  target_link_libraries(${name} PRIVATE ${arg_DEPENDS} benchmark::benchmark)
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/benchmarks")
endfunction()

# lockstep_fuzzer(NAME SOURCES a_fuzzer.cpp DEPENDS library [SEEDS a_seeds.cpp]): a target of libFuzzer, and what writes the files that
# it begins with, NAME_seeds FOLDER: in the preset fuzz only (scripts/fuzz). The others build it with a main that replays what was
# found worth keeping, tests/fuzz/corpus/NAME.tar.zst.
function(lockstep_fuzzer name)
  cmake_parse_arguments(arg "" "" "SOURCES;DEPENDS;SEEDS" ${ARGN})
  if(LOCKSTEP_FUZZERS)
    if(NOT TARGET fuzzers)
      add_custom_target(fuzzers)
    endif()
    add_executable(${name} ${arg_SOURCES})
    target_link_options(${name} PRIVATE -fsanitize=fuzzer)
    set(targets ${name})
    if(arg_SEEDS)
      add_executable(${name}_seeds ${arg_SEEDS})
      list(APPEND targets ${name}_seeds)
    endif()
    foreach(target IN LISTS targets)
      target_include_directories(${target} PRIVATE "${PROJECT_SOURCE_DIR}")
      target_compile_options(${target} PRIVATE ${LOCKSTEP_WARNINGS})
      target_link_libraries(${target} PRIVATE ${arg_DEPENDS})
      set_target_properties(${target} PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/fuzzers")
      add_dependencies(fuzzers ${target})
    endforeach()
  endif()
  set(shared "${PROJECT_SOURCE_DIR}/tests/fuzz")
  set(archive "${shared}/corpus/${name}.tar.zst")
  if(LOCKSTEP_TESTS AND EXISTS "${archive}")
    add_executable(${name}_replay ${arg_SOURCES} "${shared}/replay.cpp")
    target_include_directories(${name}_replay PRIVATE "${PROJECT_SOURCE_DIR}")
    target_compile_options(${name}_replay PRIVATE ${LOCKSTEP_TEST_OPTIONS})
    target_link_libraries(${name}_replay PRIVATE ${arg_DEPENDS})
    set_target_properties(${name}_replay PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/tests")
    add_test(NAME fuzz_corpus.${name}
             COMMAND "${CMAKE_COMMAND}" "-DARCHIVE=${archive}" "-DFOLDER=${PROJECT_BINARY_DIR}/tests/fuzz/${name}"
                     "-DREPLAY=$<TARGET_FILE:${name}_replay>" -P "${shared}/replay.cmake")
    set_tests_properties(fuzz_corpus.${name} PROPERTIES TIMEOUT 600 LABELS unit)
  endif()
endfunction()
