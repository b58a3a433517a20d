# libtorch out of the PyPI wheel, as one imported target: lockstep_libtorch.
# The wheel's own CMake package would look for a whole CUDA toolkit; the CPU half needs only two of its libraries.
set(torch_root "${LOCKSTEP_WHEELS}/torch")
if(NOT EXISTS "${torch_root}/include/torch/csrc/api/include/torch/torch.h")
  message(FATAL_ERROR "libtorch not found in ${torch_root}: run scripts/setup, "
                      "or configure with -DLOCKSTEP_TRAINER=OFF to build without the reference trainer")
endif()
add_library(lockstep_libtorch INTERFACE)
target_include_directories(lockstep_libtorch SYSTEM INTERFACE
  "${torch_root}/include" "${torch_root}/include/torch/csrc/api/include")
target_compile_definitions(lockstep_libtorch INTERFACE USE_DISTRIBUTED USE_C10D_GLOO)
target_link_libraries(lockstep_libtorch INTERFACE
  "${torch_root}/lib/libtorch_cpu.so" "${torch_root}/lib/libc10.so")
target_link_options(lockstep_libtorch INTERFACE
  "-Wl,-rpath,${torch_root}/lib" "-Wl,--disable-new-dtags" "-Wl,--allow-shlib-undefined")

# The CUDA half, for what is loaded only where there is a GPU. Linked, so that a name that is not there is an error of the
# build; what it needs itself (cuBLAS, cuDNN, …) is looked for when it is loaded.
add_library(lockstep_libtorch_cuda INTERFACE)
target_link_libraries(lockstep_libtorch_cuda INTERFACE
  lockstep_libtorch "${torch_root}/lib/libtorch_cuda.so" "${torch_root}/lib/libc10_cuda.so")
target_include_directories(lockstep_libtorch_cuda SYSTEM INTERFACE
  "${LOCKSTEP_WHEELS}/nvidia/cu13/include" "${LOCKSTEP_WHEELS}/nvidia/nccl/include")
target_compile_definitions(lockstep_libtorch_cuda INTERFACE USE_C10D_NCCL)
target_link_options(lockstep_libtorch_cuda INTERFACE "-Wl,--no-undefined")
