#pragma once

#include <memory>
#include <string_view>

#include "graph/node_desc.h"
#include "provider/kernel.h"
#include "provider/stream.h"

namespace sardonyx::provider {

/// A device and its abilities. Thread-safe. supports() never depends on the instruction set or the number of threads.
class Provider {
 public:
  virtual ~Provider() = default;
  virtual std::string_view name() const = 0;  ///< as users write it: "cpu"
  virtual Device device() const = 0;

  /// Whether this provider runs the node, or why not. Types may be partly unknown (symbols, rank); constants may be null.
  virtual graph::Support supports(const graph::NodeDesc& node) const = 0;
  /// Only for nodes that supports() accepted. Throws Error for attributes or constants that are wrong.
  virtual std::unique_ptr<Kernel> create_kernel(const graph::NodeDesc& node) const = 0;

  /// What packed constants depend on besides their bytes: the instruction set, for the CPU.
  virtual std::string_view packing_variant() const { return name(); }

  /// 64-byte aligned memory of this device. Throws kResourceExhausted. The owner frees it.
  virtual std::shared_ptr<void> allocate(std::size_t bytes) const = 0;
  /// Null for devices that run kernels at once in the caller's thread, as the CPU does.
  virtual std::unique_ptr<Stream> create_stream() const { return nullptr; }
};

}  // namespace sardonyx::provider
