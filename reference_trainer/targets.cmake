# How the folders of the trainer declare what needs libtorch, and what runs the trainer.

# trainer_torch_library(FOLDER SOURCES a.cpp DEPENDS lockstep_trainer_other): what of a folder needs libtorch, and nothing where
# there is none; each of these files takes some ten seconds and a gigabyte to compile.
function(trainer_torch_library folder)
  if(NOT LOCKSTEP_TRAINER)
    return()
  endif()
  cmake_parse_arguments(arg "" "" "SOURCES;DEPENDS" ${ARGN})
  set(name lockstep_trainer_${folder}_torch)
  lockstep_library(${name} OWN_HEADERS SOURCES ${arg_SOURCES} DEPENDS ${arg_DEPENDS})
  # Private: the wheel's include folder also holds a copy of fmt, another version than the system's. So these files do not
  # use fmt, and what links this library does not see that folder.
  target_link_libraries(${name} PRIVATE lockstep_libtorch)
  target_include_directories(${name} SYSTEM PRIVATE "${PROJECT_SOURCE_DIR}/reference_trainer/gloo_stub")
  # Compiled once, with the lowest of these libraries.
  if(folder STREQUAL streams)
    target_precompile_headers(${name} PRIVATE torch_headers.h)
  else()
    target_precompile_headers(${name} REUSE_FROM lockstep_trainer_streams_torch)
  endif()
endfunction()

# trainer_test(NAME a_test.cpp ...): tests that run lockstep-train on small jobs.
function(trainer_test name)
  if(NOT LOCKSTEP_TESTS OR NOT LOCKSTEP_TRAINER)
    return()
  endif()
  lockstep_test(${name} SOURCES ${ARGN} DEPENDS lockstep_small_job LABELS trainer TIMEOUT 120)
  add_dependencies(${name} lockstep-train lockstep_trainer_nvtx_listener)
endfunction()
