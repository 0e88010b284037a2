#include "api/ports.h"

#include <fmt/format.h>

namespace sardonyx::api {
namespace {

using graph::ValueType;

PortInfo port(const std::string& name, const ValueType& type) {
  PortInfo info;
  info.name = name;
  info.type = type.to_string();
  switch (type.kind) {
    case ValueType::Kind::kSequence: info.kind = "sequence"; break;
    case ValueType::Kind::kOptional: info.kind = "optional"; break;
    case ValueType::Kind::kMap: info.kind = "map"; break;
    default: break;
  }
  const ValueType& tensor = type.inner && info.kind != "map" ? *type.inner : type;
  info.element_type = tensor.element;
  info.has_rank = tensor.has_rank;
  for (const graph::Dim& dim : tensor.dims) {
    info.dims.push_back(dim.to_string());
    info.fixed.push_back(dim.is_constant() ? dim.constant() : -1);
  }
  return info;
}

}  // namespace

std::vector<PortInfo> input_ports(const graph::Model& model) {
  std::vector<PortInfo> ports;
  for (std::size_t i = 0; i < model.graph.inputs.size(); ++i) {
    ports.push_back(port(model.graph.input_names[i], model.graph.value(model.graph.inputs[i]).type));
    ports.back().has_default = model.graph.input_defaults[i] != graph::kNoConst;
  }
  return ports;
}

std::vector<PortInfo> output_ports(const graph::Model& model) {
  std::vector<PortInfo> ports;
  for (std::size_t i = 0; i < model.graph.outputs.size(); ++i) {
    ports.push_back(port(model.graph.output_names[i], model.graph.value(model.graph.outputs[i]).type));
  }
  return ports;
}

std::map<std::string, std::string> metadata_of(const graph::Model& model) {
  std::map<std::string, std::string> metadata = model.metadata;
  metadata.try_emplace("producer_name", model.producer_name);
  metadata.try_emplace("domain", model.domain);
  metadata.try_emplace("graph_name", model.graph.name);
  metadata.try_emplace("version", std::to_string(model.model_version));
  metadata.try_emplace("description", model.doc_string);
  return metadata;
}

std::string describe_memory(const runtime::Frame& frame) {
  const runtime::Plan& plan = frame.plan();
  std::string text = fmt::format("{} bytes in arenas and workspaces\n", frame.memory_bytes());
  for (std::size_t s = 0; s < plan.segments().size(); ++s) {
    const runtime::Segment& segment = plan.segments()[s];
    const auto& bound = frame.bound()[s];
    if (!bound) continue;
    for (std::size_t p = 0; p < plan.providers().size(); ++p) {
      if (bound->arena_bytes[p] == 0 && bound->workspace_bytes[p] == 0) continue;
      text += fmt::format("segment {} on {}: arena {} bytes in {} buffers, workspace {} bytes\n", s, plan.providers()[p]->name(),
                          bound->arena_bytes[p], segment.slots.size(), bound->workspace_bytes[p]);
    }
    for (std::size_t i = 0; i < segment.slots.size(); ++i) {
      text += fmt::format("  at {:>10}:", bound->slot_offsets[i]);
      for (runtime::ValueId value : segment.slots[i].values) text += " " + plan.graph().value(value).name;
      text += "\n";
    }
  }
  return text;
}

}  // namespace sardonyx::api
