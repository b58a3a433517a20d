#include "viewer/timeline/short_name.h"

#include <gtest/gtest.h>

#include <random>
#include <string>

namespace lockstep::viewer {
namespace {

TEST(ShortName, IsTheFunctionsOwn) {
  const std::pair<const char*, const char*> names[] = {
      {"void at::native::vectorized_elementwise_kernel<4, at::native::FillFunctor<float>, "
       "std::array<char*, 1ul> >(int, at::native::FillFunctor<float>, std::array<char*, 1ul>)",
       "vectorized_elementwise_kernel"},
      {"at::native::vectorized_elementwise_kernel<4>", "vectorized_elementwise_kernel"},
      {"void gemmSN_NN_kernel<float, 128>", "gemmSN_NN_kernel"},
      {"void plain", "plain"},
      {"void a::b::plain", "plain"},
      {"softmax(float*, int)", "softmax"},
      {"softmax(float*, int) const", "softmax"},
      {"softmax(float*, int) [clone .isra.0]", "softmax"},
      {"void at::native::(anonymous namespace)::CatArrayBatchedCopy<int, 2>(char*)", "CatArrayBatchedCopy"},
      {"void (anonymous namespace)::elementwise_kernel_with_index<int>(int)",
       "elementwise_kernel_with_index"},
      {"(anonymous namespace)::sum(int)", "sum"},
      {"std::enable_if<!(false), void>::type internal::gemvx::kernel<int, float, 5>(Params<int>)",
       "gemvx::kernel"},
      {"void cutlass::Kernel<cutlass_80_tensorop_s1688gemm>(Params)", "cutlass::Kernel"},
      {"void a::cutlass::Kernel2<int>(Params)", "cutlass::Kernel2"},
      {"void Table<int>::Kernel<int>(Params)", "Kernel"},
      {"void (anonymous namespace)::kernel<int>(Params)", "kernel"},
      {"std::type<int>::of kernel<int>(Params)", "kernel"},
      {"void reduce<(4>3), (Mode)1>(int)", "reduce"},
      {"void apply<ns::f(int)::{lambda(ns::T<int>)#1}>(int)", "apply"},
      {"void ns::Table<int, 3>::insert<long>(long)", "insert"},
      {"ns::f(int)::g(char)", "g"},
      {"ns::f(int) const::{lambda(int)#1}::operator()(int) const", "operator()"},
      {"void ns::{lambda(int)#1}", "{lambda(int)#1}"},
      {"bool ns::operator<(ns::A const&, ns::A const&)", nullptr},
      {"ns::operator<(ns::A const&, ns::A const&)", "operator<"},
      {"void ns::operator< <int>(ns::A<int>)", nullptr},
      {"void ns::operator<<int>(ns::A<int>)", nullptr},
      {"ns::operator<<(std::ostream&, int)", "operator<<"},
      {"ns::Pointer<int>::operator->()", "operator->"},
      {"ns::A::operator+=(int)", "operator+="},
      {"ns::A::operator[](int)", "operator[]"},
      {"void operators<int>(int)", "operators"},
      {"void f<&ns::A::g, (a->b)>(int)", "f"},
  };
  for (const auto& [name, own] : names) EXPECT_EQ(short_name(name), own == nullptr ? name : own) << name;
}

TEST(ShortName, OfWhatIsNoFunctionIsAllOfIt) {
  for (const char* const name : {"",
                                 "void ",
                                 "void",
                                 "aten::mul",
                                 "ProfilerStep#12",
                                 "nccl:all_reduce",
                                 "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)",
                                 "Memcpy HtoD (Pageable -> Device)",
                                 "Memset (Device)",
                                 "torch/nn/modules/module.py(1532): _call_impl",
                                 "module.py(12)",
                                 "<built-in method mul of type object at 0x7f>",
                                 "enumerate(DataLoader)#_Iter.__next__",
                                 "autograd::engine::evaluate_function: MulBackward0",
                                 "nn.Module: Linear_0",
                                 "Optimizer.step#Adam.step",
                                 "ampere_sgemm_128x64_tn",
                                 "Stream Sync",
                                 "forward pass(step 3)",
                                 "größe<int>",
                                 "核函数(int)",
                                 "a < b",
                                 "void f<int",
                                 "void f(int",
                                 "void f)(",
                                 "void f>",
                                 "::",
                                 "void ::",
                                 "f<>::",
                                 "(anonymous namespace)::",
                                 "void (*f)(int)",
                                 "'lambda'(int)"})
    EXPECT_EQ(short_name(name), name);
}

TEST(ShortName, OfAnythingIsAPartOfIt) {
  std::mt19937_64 random(3);
  const std::string pieces[] = {"<",
                                ">",
                                "(",
                                ")",
                                "{",
                                "}",
                                "[",
                                "]",
                                "::",
                                ":",
                                " ",
                                "operator",
                                "void ",
                                "f",
                                "->",
                                "-",
                                "const",
                                "\xC3\xA9",
                                "(anonymous namespace)",
                                ",",
                                "&",
                                "#1",
                                "~"};
  for (int round = 0; round < 100'000; ++round) {
    std::string name;
    for (std::size_t i = random() % 14; i > 0; --i) name += pieces[random() % std::size(pieces)];
    const std::string_view own = short_name(name);
    ASSERT_GE(own.data(), name.data());
    ASSERT_LE(own.data() + own.size(), name.data() + name.size());
    ASSERT_EQ(own.empty(), name.empty()) << name;
  }
  const std::string deep = "void f" + std::string(2'000, '<') + std::string(2'000, '>');
  EXPECT_EQ(short_name(deep), deep);
  const std::string longer = "void f<" + std::string(100'000, 'x') + ">";
  EXPECT_EQ(short_name(longer), longer);
}

}  // namespace
}  // namespace lockstep::viewer
