#include <gtest/gtest.h>

#include <cstring>

#include "provider/sim/device_memory.h"
#include "provider/sim/sim_provider.h"
#include "sardonyx/error.h"

namespace sardonyx::provider::sim {
namespace {

Tensor device_tensor(const SimProvider& sim, const Tensor& like) {
  std::shared_ptr<void> memory = sim.allocate(like.num_bytes());
  void* data = memory.get();
  return Tensor(like.type(), like.shape(), data, std::move(memory), sim.device());
}

TEST(SimMemory, TheHostCannotTouchIt) {
  const SimProvider sim(SimOptions{});
  const std::shared_ptr<void> memory = sim.allocate(64);
  EXPECT_DEATH(*static_cast<volatile char*>(memory.get()) = 1, "");
  EXPECT_DEATH({ [[maybe_unused]] volatile char c = *static_cast<volatile char*>(memory.get()); }, "");
}

TEST(SimMemory, AllocationsAreApartAndUsedAgain) {
  DeviceMemory& memory = DeviceMemory::global();
  auto a = memory.allocate(100);
  const auto b = memory.allocate(100);
  EXPECT_NE(a.get(), b.get());
  void* first = a.get();
  a.reset();
  EXPECT_EQ(memory.allocate(50).get(), first);
  EXPECT_THROW(memory.allocate(DeviceMemory::kSize + 1), Error);
}

TEST(SimStream, AResultIsWrongUntilItIsWaitedFor) {
  const SimProvider sim(SimOptions{});
  const float values[] = {1, 2, 3, 4};
  const Tensor host = Tensor::from<float>({4}, values);
  const Tensor device = device_tensor(sim, host);
  Tensor back(ElementType::kFloat32, {4});
  const auto stream = sim.create_stream();
  stream->copy(host.view(), device.view());
  stream->copy(device.view(), back.view());
  EXPECT_FALSE(identical(host.view(), back.view())) << "a missing synchronisation would go unnoticed";
  stream->synchronize();
  EXPECT_TRUE(identical(host.view(), back.view()));
}

TEST(SimStream, AnInputChangedTooEarlyIsNoticed) {
  const SimProvider sim(SimOptions{});
  const float values[] = {1, 2, 3, 4};
  Tensor host = Tensor::from<float>({4}, values);
  const Tensor device = device_tensor(sim, host);
  Tensor back(ElementType::kFloat32, {4});
  const auto stream = sim.create_stream();
  stream->copy(host.view(), device.view());
  host.mutable_data<float>()[0] = 9;
  stream->copy(device.view(), back.view());
  stream->synchronize();
  EXPECT_EQ(back.data<float>()[0], 9);
}

TEST(SimOptions, Parse) {
  const SimOptions options = SimOptions::parse({{"sim.decline", "Softmax,,Gelu"}, {"sim.gap_percent", "7"}});
  EXPECT_EQ(options.declined_operators, (std::vector<std::string>{"Softmax", "Gelu"}));
  EXPECT_EQ(options.gap_percent, 7);
  EXPECT_THROW(SimOptions::parse({{"sim.gap_percent", "-1"}}), Error);
  EXPECT_THROW(SimOptions::parse({{"sim.gap_percent", "7x"}}), Error);
}

}  // namespace
}  // namespace sardonyx::provider::sim
