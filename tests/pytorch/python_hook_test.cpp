// The start-up hook in Python processes that it must not disturb: nothing that a program prints, imports or
// ends with may depend on it. Needs a Python, but no torch: where one is imported, it is a stand-in.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "tests/end_to_end/support.h"
#include "trace/reader.h"

namespace lockstep::end_to_end {
namespace {

using testing::HasSubstr;
using testing::Not;

class PythonHook : public testing::Test {
 protected:
  void SetUp() override {
    if (run({LOCKSTEP_PYTHON, "-c", "pass"}).exit_code != 0)
      GTEST_SKIP() << "SKIPPED: " << LOCKSTEP_PYTHON << " does not run";
  }

  void write(const std::string& file, const std::string& text) const {
    const std::filesystem::path path = folder_ / file;
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path) << text;
  }

  Outcome alone(const std::vector<std::string>& arguments,
                const std::vector<std::string>& environment = {}) const {
    std::vector<std::string> command{LOCKSTEP_PYTHON};
    command.insert(command.end(), arguments.begin(), arguments.end());
    return run(command, environment);
  }

  Outcome recorded(const std::vector<std::string>& arguments,
                   const std::vector<std::string>& environment = {},
                   const std::vector<std::string>& options = {}) const {
    std::vector<std::string> command{binary("lockstep"), "record", "--quiet",
                                     "--force",          "-o",     folder_ / "run"};
    command.insert(command.end(), options.begin(), options.end());
    command.insert(command.end(), {"--", LOCKSTEP_PYTHON});
    command.insert(command.end(), arguments.begin(), arguments.end());
    return run(command, environment);
  }

  // With the hook and without it: the same output, the same errors, the same end.
  void expect_the_same(const std::vector<std::string>& arguments,
                       const std::vector<std::string>& environment = {}) const {
    const Outcome with = recorded(arguments, environment);
    const Outcome without = alone(arguments, environment);
    EXPECT_EQ(with.exit_code, without.exit_code);
    EXPECT_EQ(with.signal, without.signal);
    EXPECT_EQ(with.standard_output, without.standard_output);
    EXPECT_EQ(with.standard_error, without.standard_error);
  }

  TemporaryFolder folder_;
};

TEST_F(PythonHook, RunsInTheRecordedCommand) {
  const std::string program =
      "import sys; print(any(getattr(f, '__name__', '') == 'Finder' for f in sys.meta_path))";
  EXPECT_EQ(recorded({"-c", program}).standard_output, "True\n");
  EXPECT_EQ(recorded({"-c", program}, {}, {"--python-hook", "off"}).standard_output, "False\n");
}

TEST_F(PythonHook, ImportsNothingAndLeavesThePathAlone) {
  expect_the_same({"-c",
                   "import sys; print(sorted(set(sys.modules) - {'sitecustomize'})); print(sys.path); "
                   "print([f.split(' at ')[0] for f in map(str, sys.meta_path) if 'Finder at' not in f and "
                   "'.Finder' not in f])"});
}

TEST_F(PythonHook, ASitecustomizeThatWasThereStillRuns) {
  write("site/sitecustomize.py",
        "import sys\nprint('theirs', [p for p in sys.path if 'lib/lockstep/python' in p])\n");
  const std::vector<std::string> path{"PYTHONPATH=" + (folder_ / "site")};
  expect_the_same({"-c", "import sitecustomize; print(sitecustomize.__file__)"}, path);
  EXPECT_THAT(recorded({"-c", "pass"}, path).standard_output, HasSubstr("theirs []"));
}

TEST_F(PythonHook, ASitecustomizeThatFailsFailsAsItDid) {
  write("site/sitecustomize.py", "raise RuntimeError('theirs')\n");
  const std::vector<std::string> path{"PYTHONPATH=" + (folder_ / "site")};
  const Outcome with = recorded({"-c", "print('goes on')"}, path);
  const Outcome without = alone({"-c", "print('goes on')"}, path);
  EXPECT_EQ(with.standard_output, without.standard_output);
  EXPECT_EQ(with.exit_code, without.exit_code);
  EXPECT_THAT(with.standard_error, HasSubstr("theirs"));
}

TEST_F(PythonHook, InterpretersThatIgnoreTheEnvironmentAreLeftAlone) {
  for (const char* flag : {"-I", "-E", "-S", "-s"})
    expect_the_same({flag, "-c", "import sys; print('ran', sys.flags.isolated)"});
  expect_the_same({"-c", "print('ran')"}, {"PYTHONNOUSERSITE=1"});
}

TEST_F(PythonHook, AReadOnlyHomeAndADeletedFolderAreFine) {
  expect_the_same({"-c", "import os; os.chdir('/'); print('ran')"}, {"HOME=/nonexistent"});
}

TEST_F(PythonHook, EndsOfAllKindsAreTheirs) {
  for (const char* program :
       {"raise SystemExit(3)", "import os; os._exit(4)", "import os; os.abort()", "raise ValueError('x')",
        "import os, sys; os.execv(sys.executable, [sys.executable, '-c', 'print(7)'])",
        "import os; os.closerange(3, 1000); print(8)",
        "import os\npid = os.fork()\nos.waitpid(pid, 0) if pid else os._exit(0)\nprint('parent' if pid else "
        "'child')"})
    expect_the_same({"-c", program});
}

// A package that is called torch and has nothing of it.
TEST_F(PythonHook, ATorchWithoutAnythingInItIsImportedAsItIs) {
  write("fake/torch/__init__.py", "print('imported'); __version__ = '0'\n");
  expect_the_same({"-c", "import torch; print(torch.__version__, type(torch.__spec__.loader).__name__)"},
                  {"PYTHONPATH=" + (folder_ / "fake")});
}

// transformers and datasets ask for torch's spec before they import it, or don't.
TEST_F(PythonHook, WhoAsksForTorchsSpecDoesNotKeepItFromBeingRecorded) {
  write("modules/torch.py", "");
  const std::string look =
      "import importlib.util, sys; importlib.util.find_spec('torch'); importlib.util.find_spec('torch'); "
      "print('_lockstep_pytorch' in sys.modules); ";
  const std::vector<std::string> environment{"PYTHONPATH=" + (folder_ / "modules")};
  EXPECT_EQ(recorded({"-c", look}, environment).standard_output, "False\n");
  EXPECT_EQ(recorded({"-c", look + "import torch; print('_lockstep_pytorch' in sys.modules)"}, environment)
                .standard_output,
            "False\nTrue\n");
}

TEST_F(PythonHook, ATorchThatFailsToImportFailsAsItDid) {
  write("fake/torch/__init__.py", "raise ImportError('libtorch_cpu.so: cannot open shared object file')\n");
  const std::vector<std::string> path{"PYTHONPATH=" + (folder_ / "fake")};
  const std::string program =
      "try:\n  import torch\nexcept ImportError as error:\n  print(error)\n"
      "try:\n  import torch\nexcept ImportError as error:\n  print('again', error)\n";
  expect_the_same({"-c", program}, path);
  EXPECT_EQ(recorded({"-c", "import torch"}, path).exit_code, 1);
}

TEST_F(PythonHook, NoTorchAtAllIsNoTorch) {
  expect_the_same({"-c",
                   "import sys; sys.path = [p for p in sys.path if 'site-packages' not in p]\n"
                   "try:\n  import torch\nexcept ModuleNotFoundError as error:\n  print(error)"});
}

// What the hook asks of a torch is all there, and none of it works.
TEST_F(PythonHook, ATorchWhosePartsRaiseStillTrains) {
  write("fake/torch/__init__.py",
        "from . import autograd, distributed, optim\n"
        "class cuda:\n"
        "  @staticmethod\n"
        "  def is_initialized(): raise RuntimeError('broken')\n");
  write("fake/torch/autograd.py", "def backward(*a, **k):\n  print('backward', a)\n  return 5\n");
  write("fake/torch/distributed/__init__.py", "def is_available(): raise RuntimeError('broken')\n");
  write("fake/torch/optim/__init__.py", "");
  write("fake/torch/optim/optimizer.py",
        "def register_optimizer_step_pre_hook(hook): hook(None, None, None)\n"
        "def register_optimizer_step_post_hook(hook): raise RuntimeError('broken')\n");
  expect_the_same({"-c", "import torch; print(torch.autograd.backward(1, 2))"},
                  {"PYTHONPATH=" + (folder_ / "fake")});
}

TEST_F(PythonHook, AMissingLibraryStopsNothing) {
  write("fake/torch/__init__.py", "from . import autograd\n");
  write("fake/torch/autograd.py", "def backward(*a, **k):\n  return 5\n");
  const Outcome outcome =
      recorded({"-c",
                "import os; os.environ['LOCKSTEP_INJECTION'] = '/nonexistent'; import torch; "
                "print(torch.autograd.backward())"},
               {"PYTHONPATH=" + (folder_ / "fake")});
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_EQ(outcome.standard_output, "5\n");
  EXPECT_EQ(outcome.standard_error, "");
}

// c10d makes MPI's group of all ranks with -1 for both: MPI knows them, where no launcher says.
TEST_F(PythonHook, RankAndSizeAreTheGroupsOwnWhereMpiTellsThem) {
  write("fake/torch/__init__.py", "from . import distributed\n");
  write("fake/torch/distributed/__init__.py",
        "from . import distributed_c10d\ndef is_available():\n  return True\n");
  write("fake/torch/distributed/distributed_c10d.py",
        "class GroupMember:\n  NON_GROUP_MEMBER = object()\n"
        "class Group:\n"
        "  _device_types = []\n"
        "  def rank(self):\n    return 3\n"
        "  def size(self):\n    return 4\n"
        "  def _get_backend(self, device):\n    raise RuntimeError\n"
        "def _new_process_group_helper(size, rank, ranks, *a, **k):\n  return Group(), None\n");
  const Outcome outcome = recorded(
      {"-c", "from torch.distributed import distributed_c10d as c; c._new_process_group_helper(-1, -1, [])"},
      {"PYTHONPATH=" + (folder_ / "fake")});
  EXPECT_EQ(outcome.exit_code, 0);
  const Result<trace::Reader> reader = trace::Reader::open(folder_ / "run/rank-3.lst");
  ASSERT_TRUE(reader.ok());
  EXPECT_EQ(reader.value().metadata().at("world_size"), "4");
}

// The hook and the CUDA driver each bring our library in, though nothing that they would tell is wanted.
TEST_F(PythonHook, CountersAloneAreRecordedOfWhoeverBringsUsIn) {
  write("fake/torch/__init__.py", "from . import autograd\n");
  write("fake/torch/autograd.py", "def backward(*a, **k):\n  return 5\n");
  const std::string trains = "import torch; print(torch.autograd.backward())";
  const std::string uses_cuda =
      "import ctypes, os; print(ctypes.CDLL(os.environ['CUDA_INJECTION64_PATH']).InitializeInjection() + 4)";
  for (const std::string& program : {trains, uses_cuda}) {
    const Outcome outcome =
        recorded({"-c", program}, {"PYTHONPATH=" + (folder_ / "fake"), "RANK=0"}, {"--sources", "cpu"});
    EXPECT_EQ(outcome.standard_output, "5\n");
    EXPECT_EQ(outcome.standard_error, "");
    const Result<trace::Reader> reader = trace::Reader::open(folder_ / "run/rank-0.lst");
    ASSERT_TRUE(reader.ok()) << program;
    EXPECT_GT(reader.value().count(trace::EventKind::counter), 0U) << program;
    EXPECT_EQ(reader.value().count(trace::EventKind::host_range), 0U) << program;
  }
  // Without counters nobody begins a file for nothing.
  EXPECT_EQ(recorded({"-c", trains}, {"PYTHONPATH=" + (folder_ / "fake"), "RANK=0"}, {"--sources", "nccl"})
                .standard_output,
            "5\n");
  EXPECT_FALSE(std::filesystem::exists(folder_ / "run/rank-0.lst"));
}

}  // namespace
}  // namespace lockstep::end_to_end
