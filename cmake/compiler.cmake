# Language, warnings, sanitizers, and the tools that make building fast.
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/bin")
set(CMAKE_LIBRARY_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/lib")
# bin/lockstep finds lib/liblockstep-*.so beside it, in the build tree and after install alike.
set(CMAKE_INSTALL_RPATH "$ORIGIN/../${CMAKE_INSTALL_LIBDIR}")

if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release)
endif()

# ccache takes a precompiled header only where it may believe that the header's macros are the same, and runs no preprocessor of its
# own where it may believe the compiler's list of included files. It is not told to overlook that one of these is newer than the
# compiler's start (include_file_mtime): a header that is edited meanwhile would be kept under its new text with its old object.
find_program(LOCKSTEP_CCACHE ccache)
if(LOCKSTEP_CCACHE)
  set(ccache_settings CCACHE_DEPEND=1 CCACHE_SLOPPINESS=pch_defines,time_macros)
  set(CMAKE_CXX_COMPILER_LAUNCHER "${CMAKE_COMMAND};-E;env;${ccache_settings};${LOCKSTEP_CCACHE}")
  set(CMAKE_C_COMPILER_LAUNCHER "${LOCKSTEP_CCACHE}")
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL GNU)
  # A file is compiled in a quarter less time where GCC doesn't look for memory to free before it has used a gigabyte.
  add_compile_options($<$<COMPILE_LANGUAGE:CXX>:--param=ggc-min-heapsize=1000000>)
  if(LOCKSTEP_CCACHE)
    add_compile_options($<$<COMPILE_LANGUAGE:CXX>:-fpch-preprocess>)  # lest it leave precompiled headers alone
  endif()
else()
  set(CMAKE_DISABLE_PRECOMPILE_HEADERS ON)  # their options are GCC's
endif()
find_program(LOCKSTEP_MOLD mold)
if(LOCKSTEP_MOLD)
  add_link_options(-fuse-ld=mold)
endif()

# Warnings are errors in our own targets only (cmake/targets.cmake), not in what we build of others.
set(LOCKSTEP_WARNINGS -Wall -Wextra -Werror)
if(CMAKE_CXX_COMPILER_ID STREQUAL GNU AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  # GCC 12 sees overlapping copies in `"text" + std::to_string(n)` (its bug 105651), and, where the standard library's headers are
  # precompiled, copies beyond a temporary string that a vector takes; 13 does not.
  list(APPEND LOCKSTEP_WARNINGS -Wno-restrict -Wno-array-bounds -Wno-stringop-overflow -Wno-stringop-overread)
endif()

if(LOCKSTEP_SANITIZE)
  add_compile_options(-fsanitize=${LOCKSTEP_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  # What GCC concludes from the flow of values, it concludes from the sanitizers' checks too: it suspects the standard
  # library's own code (std::regex, std::vector). The sanitizers look for the same while the program runs, and builds
  # without them have these warnings.
  set(flow_warnings -Wno-maybe-uninitialized -Wno-stringop-overflow -Wno-stringop-overread -Wno-array-bounds
      -Wno-free-nonheap-object -Wno-nonnull -Wno-dangling-pointer -Wno-use-after-free)
  add_compile_options("$<$<CXX_COMPILER_ID:GNU>:${flow_warnings}>")
  add_link_options(-fsanitize=${LOCKSTEP_SANITIZE})
  # For programs that are not instrumented and load what is: they need the runtime from their start.
  string(REGEX MATCH "address|thread" runtime "${LOCKSTEP_SANITIZE}")
  string(SUBSTRING "${runtime}" 0 1 runtime)
  execute_process(COMMAND "${CMAKE_CXX_COMPILER}" -print-file-name=lib${runtime}san.so
                  OUTPUT_VARIABLE LOCKSTEP_SANITIZER_RUNTIME OUTPUT_STRIP_TRAILING_WHITESPACE)
endif()
if(LOCKSTEP_FUZZERS)
  if(NOT CMAKE_CXX_COMPILER_ID MATCHES Clang)
    message(FATAL_ERROR "LOCKSTEP_FUZZERS needs clang (libFuzzer): cmake --preset fuzz")
  endif()
  add_compile_options(-fsanitize=fuzzer-no-link)
endif()
