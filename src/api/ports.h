#pragma once

#include <map>
#include <string>
#include <vector>

#include "graph/model.h"
#include "runtime/frame.h"
#include "sardonyx/session.h"

namespace sardonyx::api {

std::vector<PortInfo> input_ports(const graph::Model& model);
std::vector<PortInfo> output_ports(const graph::Model& model);
std::map<std::string, std::string> metadata_of(const graph::Model& model);
/// The arenas of a frame that has run: bytes per segment, buffers, and which values take turns in each.
std::string describe_memory(const runtime::Frame& frame);

}  // namespace sardonyx::api
