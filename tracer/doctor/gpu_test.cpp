// Driver, permission, CUPTI, NCCL and NVML: every outcome, without any of them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tracer/doctor/fake_machine.h"
#include "tracer/doctor/versions.h"

namespace lockstep::tracer::doctor {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

const char* const kDriverText =
    "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  580.65.06  Release Build  (a@b)  Wed Jan  7\n"
    "GCC version:  gcc version 13.3.0 (Ubuntu 13.3.0-6ubuntu2~24.04.1)\n";

FakeMachine with_driver(int cuda = 13000, int init = 0, int gpus = 8) {
  FakeMachine machine;
  machine.files["/proc/driver/nvidia/version"] = kDriverText;
  machine.add_library("libcuda.so.1", "/usr/lib/libcuda.so.1",
                      {{true, 0, cuda}, {true, init, 0}, {true, 0, gpus}});
  return machine;
}

TEST(DriverVersion, IsFoundInEveryDriversText) {
  EXPECT_EQ(driver_version(kDriverText), "580.65.06");
  EXPECT_EQ(driver_version(
                "NVRM version: NVIDIA UNIX x86_64 Kernel Module  535.54.03  Tue Jun\nGCC version: 9.4.0"),
            "535.54.03");
  EXPECT_EQ(driver_version("nothing of the kind\n 535.54.03"), "") << "not on the first line";
  EXPECT_EQ(driver_version(""), "");
  EXPECT_EQ(driver_version("a . 1.2 535. .54 5a5.1"), "");
}

TEST(Versions, AreWhatTheLibrariesMean) {
  EXPECT_EQ(cuda_version_of_driver(12080).text(), "12.8");
  EXPECT_EQ(cuda_version_of_driver(13000).text(), "13.0");
  EXPECT_EQ(cuda_version_of_driver(0).text(), "unknown");
  EXPECT_EQ(cuda_version_of_cupti(130001).text(), "13.0");
  EXPECT_EQ(cuda_version_of_cupti(130200).text(), "13.2");
  EXPECT_EQ(cuda_version_of_cupti(26).text(), "12.8");
  EXPECT_EQ(cuda_version_of_cupti(25).text(), "12.6") << "a number that the list lacks";
  EXPECT_EQ(cuda_version_of_cupti(18).text(), "11.8");
  EXPECT_EQ(cuda_version_of_cupti(3).text(), "unknown");
  EXPECT_EQ(nccl_version(22809).text(), "2.28.9");
  EXPECT_EQ(nccl_version(2804).text(), "2.8.4");
  EXPECT_LT(nccl_version(22206), nccl_version(22304));
}

TEST(Driver, WorksAndSaysItsVersion) {
  const Checks checks = look(check_driver, with_driver());
  ASSERT_THAT(checks, SizeIs(1));
  EXPECT_EQ(checks[0].state, State::ok);
  EXPECT_EQ(checks[0].finding, "driver 580.65.06, for CUDA up to 13.0, 8 GPUs visible");
  EXPECT_EQ(checks[0].values.at("gpus"), "8");
}

TEST(Driver, IsNotThere) {
  const Checks checks = look(check_driver, FakeMachine());
  EXPECT_EQ(checks[0].state, State::missing);
  EXPECT_THAT(checks[0].finding, HasSubstr("no NVIDIA driver"));
  EXPECT_THAT(checks[0].sources, ElementsAre("cupti", "nccl", "nvml"));
}

TEST(Driver, IsInTheKernelButNotInTheContainer) {
  FakeMachine machine;
  machine.files["/proc/driver/nvidia/version"] = kDriverText;
  const Checks checks = look(check_driver, machine);
  EXPECT_EQ(checks[0].state, State::missing);
  EXPECT_THAT(checks[0].finding, HasSubstr("580.65.06, but libcuda.so.1 does not load"));
  EXPECT_THAT(checks[0].remedy, HasSubstr("--gpus all"));
}

TEST(Driver, FailuresOfInitAreExplained) {
  EXPECT_THAT(look(check_driver, with_driver(13000, 803))[0].finding, HasSubstr("different versions"));
  EXPECT_THAT(look(check_driver, with_driver(13000, 802))[0].remedy, HasSubstr("fabricmanager"));
  const Check unknown = look(check_driver, with_driver(13000, 77))[0];
  EXPECT_EQ(unknown.finding, "cuInit fails with error 77");
  EXPECT_EQ(unknown.state, State::missing);
  EXPECT_EQ(look(check_driver, with_driver(13000, 0, 0))[0].state, State::missing);
}

TEST(ProfilingPermission, TracingWorksWithoutIt) {
  FakeMachine machine;
  EXPECT_THAT(look(check_profiling_permission, machine), IsEmpty()) << "no driver, nothing to say";
  machine.files["/proc/driver/nvidia/params"] =
      "ResmanDebugLevel: 4294967295\nRmProfilingAdminOnly: 1\nFoo: 2\n";
  const Check restricted = look(check_profiling_permission, machine)[0];
  EXPECT_EQ(restricted.state, State::ok);
  EXPECT_THAT(restricted.finding, HasSubstr("does not need them"));
  machine.root = true;
  EXPECT_THAT(look(check_profiling_permission, machine)[0].finding, HasSubstr("this is root"));
  machine.files["/proc/driver/nvidia/params"] = "RmProfilingAdminOnly: 0\n";
  EXPECT_THAT(look(check_profiling_permission, machine)[0].finding, HasSubstr("every user"));
}

TEST(Nvml, OutcomesAreTold) {
  FakeMachine machine;
  EXPECT_EQ(look(check_nvml, machine)[0].state, State::missing);
  machine.add_library("libnvidia-ml.so.1", "/usr/lib/libnvidia-ml.so.1", {{true, 0, 0}, {true, 0, 1}});
  EXPECT_EQ(look(check_nvml, machine)[0].finding, "NVML sees 1 GPU");
  machine.add_library("libnvidia-ml.so.1", "/usr/lib/libnvidia-ml.so.1", {{true, 18, 0}, {true, 1, 0}});
  EXPECT_THAT(look(check_nvml, machine)[0].remedy, HasSubstr("restart"));
}

PythonFacts python_with_torch() {
  PythonFacts python;
  python.torch_folder = "/env/lib/torch";
  return python;
}

TEST(Cupti, TorchsOwnCopyIsTheOneThatIsUsed) {
  FakeMachine machine = with_driver();
  const std::string own = "/env/lib/nvidia/cuda_cupti/lib/libcupti.so.12";
  machine.files[own] = "";
  machine.add_library(own, own, {{true, 0, 26}});
  machine.add_library("libcupti.so.12", own, {{true, 0, 26}});
  const Checks checks = look(check_cupti, machine, python_with_torch());
  ASSERT_THAT(checks, SizeIs(1)) << "the loader's is the same file";
  EXPECT_EQ(checks[0].state, State::ok);
  EXPECT_EQ(checks[0].finding, "torch's own copy (CUPTI API 26, CUDA 12.8): " + own);
}

TEST(Cupti, ACopyOfAnotherCudaClashes) {
  FakeMachine machine = with_driver();
  const std::string own = "/env/lib/nvidia/cuda_cupti/lib/libcupti.so.12";
  machine.files[own] = "";
  machine.add_library(own, own, {{true, 0, 26}});
  machine.add_library("libcupti.so.13", "/cuda/lib/libcupti.so.13", {{true, 0, 130001}});
  Checks checks = look(check_cupti, machine, python_with_torch());
  ASSERT_THAT(checks, SizeIs(2));
  EXPECT_EQ(checks[1].state, State::limited);
  EXPECT_THAT(checks[1].remedy, HasSubstr("LD_LIBRARY_PATH"));
  machine.add_library("libcupti.so.13", "/cuda/lib/libcupti.so.13", {{true, 0, 27}});
  checks = look(check_cupti, machine, python_with_torch());
  EXPECT_EQ(checks[1].state, State::note) << "the same major version: one SONAME";
}

TEST(Cupti, NewerThanTheDriverDoesNotWork) {
  FakeMachine machine = with_driver(12080);
  machine.add_library("libcupti.so.13", "/cuda/lib/libcupti.so.13", {{true, 0, 130001}});
  const Situation situation{machine};
  const Checks checks = look(check_cupti, situation, look(check_driver, situation));
  EXPECT_EQ(checks[0].state, State::missing);
  EXPECT_THAT(checks[0].finding, HasSubstr("CUPTI is of CUDA 13.0, the driver goes up to CUDA 12.8"));
  machine.add_library("libcupti.so.13", "/cuda/lib/libcupti.so.13", {{true, 0, 28}});
  EXPECT_EQ(look(check_cupti, situation, look(check_driver, situation))[0].state, State::ok)
      << "a newer minor version is compatible";
}

TEST(Cupti, IsNotThereOrBroken) {
  FakeMachine machine;
  EXPECT_THAT(look(check_cupti, machine)[0].finding, HasSubstr("neither beside torch"));
  machine.files["/usr/local/cuda/extras/CUPTI/lib64/libcupti.so.12"] = "";
  EXPECT_THAT(look(check_cupti, machine)[0].finding, HasSubstr("does not load"));
  machine.add_library("libcupti.so.13", "/x/libcupti.so.13", {{true, 0, 130000}});
  EXPECT_EQ(look(check_cupti, machine)[0].state, State::limited) << "13.0 without its update";
}

TEST(Nccl, OfTheLoaderOrOfTorch) {
  FakeMachine machine;
  EXPECT_EQ(look(check_nccl, machine)[0].state, State::missing);
  machine.add_library("libnccl.so.2", "/usr/lib/libnccl.so.2", {{true, 0, 22809}});
  Check check = look(check_nccl, machine)[0];
  EXPECT_EQ(check.state, State::ok);
  EXPECT_EQ(check.finding, "NCCL 2.28.9 (the loader's): /usr/lib/libnccl.so.2");

  EXPECT_THAT(look(check_nccl, machine, python_with_torch())[0].finding, HasSubstr("without CUDA"));
  machine.elf["/env/lib/torch/lib/libtorch_cuda.so"].needed = {"libcudart.so.12"};
  check = look(check_nccl, machine, python_with_torch())[0];
  EXPECT_EQ(check.state, State::note);
  EXPECT_EQ(check.values.at("static"), "yes");
  machine.elf["/env/lib/torch/lib/libtorch_cuda.so"].needed = {"libcudart.so.12", "libnccl.so.2"};
  const std::string own = "/env/lib/nvidia/nccl/lib/libnccl.so.2";
  machine.files[own] = "";
  machine.add_library(own, own, {{true, 0, 22105}});
  check = look(check_nccl, machine, python_with_torch())[0];
  EXPECT_EQ(check.state, State::limited);
  EXPECT_THAT(check.finding, HasSubstr("NCCL 2.21.5 (torch's own)"));
  EXPECT_THAT(check.finding, HasSubstr("before 2.23"));
}

}  // namespace
}  // namespace lockstep::tracer::doctor
