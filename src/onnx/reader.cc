#include "onnx/reader.h"

#include <fmt/core.h>
#include <new>
#include <stdexcept>
#include <utility>

#include "base/fail.h"
#include "base/file_mapping.h"
#include "onnx/context.h"
#include "onnx/graph_builder.h"
#include "onnx/load_state.h"
#include "onnx/proto.h"
#include "onnx/upgrade/opsets.h"

namespace sardonyx::onnx {
namespace {

constexpr std::int64_t kNewestIrVersion = 13;
constexpr std::int64_t kFirstIrWithOpsets = 3;

void read_header(const ModelProto& proto, graph::Model& model) {
  if (proto.ir_version < 1 || proto.ir_version > kNewestIrVersion) {
    fail(proto.ir_version < 1 ? ErrorCode::kInvalidModel : ErrorCode::kUnsupported,
         "the model says IR version {}; this build reads 1 to {}", proto.ir_version, kNewestIrVersion);
  }
  model.ir_version = proto.ir_version;
  model.producer_name = proto.producer_name;
  model.producer_version = proto.producer_version;
  model.domain = proto.domain;
  model.doc_string = proto.doc_string;
  model.model_version = proto.model_version;
  for (const EntryProto& entry : proto.metadata) model.metadata[std::string(entry.key)] = entry.value;
}

void read_functions(const ModelProto& proto, const Opsets& model_opsets, LoadState& state) {
  for (Bytes message : proto.functions) {
    Function function;
    function.proto = parse_function(message);
    const FunctionProto& callee = function.proto;
    in_context([&] { return fmt::format("function '{}.{}'", callee.domain, callee.name); },
               [&] {
                 function.opsets = to_opsets(callee.opset_imports);
                 function.opsets.insert(model_opsets.begin(),
                                        model_opsets.end());  // for domains that the function does not import
                 const FunctionKey key(canonical_domain(callee.domain), callee.name, callee.overload);
                 if (!state.functions.emplace(key, std::move(function)).second) {
                   fail(ErrorCode::kInvalidModel, "the function is defined twice");
                 }
               });
  }
}

void read(Bytes bytes, const ReadOptions& options, TensorDecoder tensors, graph::Model& model) {
  if (bytes.empty()) fail(ErrorCode::kInvalidModel, "the file is empty");
  const ModelProto proto = parse_model(bytes);
  read_header(proto, model);
  Opsets opsets = to_opsets(proto.opset_imports);
  if (opsets.empty() && proto.ir_version < kFirstIrWithOpsets) opsets[""] = 1;
  if (opsets.empty()) fail(ErrorCode::kInvalidModel, "the model imports no opset");
  model.opsets.insert(opsets.begin(), opsets.end());
  if (!proto.graph) fail(ErrorCode::kInvalidModel, "the file holds no graph; it is not an ONNX model, or is empty");
  LoadState state{model, options, std::move(tensors)};
  read_functions(proto, opsets, state);
  Scope scope(model.graph, nullptr, opsets);
  GraphBuilder(state, scope).build_main(*proto.graph);
}

graph::Model read_named(const std::string& place, Bytes bytes, const ReadOptions& options, TensorDecoder tensors) {
  graph::Model model;
  in_context([&] { return place; },
             [&] {
               try {
                 read(bytes, options, std::move(tensors), model);
               } catch (const std::bad_alloc&) {
                 fail(ErrorCode::kResourceExhausted, "there is not enough memory to load the model");
               } catch (const std::length_error& error) {
                 fail(ErrorCode::kResourceExhausted, "a part of the model is too large: {}", error.what());
               }
             });
  return model;
}

}  // namespace

NestingLevel::NestingLevel(LoadState& state) : state_(state) {
  if (state_.depth >= kDeepestNesting) {
    fail(ErrorCode::kInvalidModel, "graphs and functions are nested more than {} deep", kDeepestNesting);
  }
  ++state_.depth;
}

Opsets to_opsets(const std::vector<OperatorSetIdProto>& imports) {
  Opsets opsets;
  for (const OperatorSetIdProto& import : imports) {
    const std::string domain(canonical_domain(import.domain));
    check_opset(domain, import.version);
    const auto [known, is_new] = opsets.emplace(domain, import.version);
    if (!is_new && known->second != import.version) {
      fail(ErrorCode::kInvalidModel, "opset '{}' is imported in versions {} and {}", domain, known->second,
           import.version);
    }
  }
  return opsets;
}

graph::Model read_model(const std::filesystem::path& path, const ReadOptions& options) {
  const auto file = std::make_shared<const FileMapping>(path.string());
  TensorDecoder tensors(file, ExternalFiles(path), file->size(), options.most_extra_bytes);
  graph::Model model = read_named(fmt::format("model '{}'", path.string()), file->text(), options, std::move(tensors));
  model.path = path.string();
  return model;
}

graph::Model read_model(std::span<const std::byte> bytes, const ReadOptions& options) {
  TensorDecoder tensors(options.owner, ExternalFiles::in_folder(options.external_data_folder), bytes.size(),
                        options.most_extra_bytes);
  const Bytes message(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  return read_named("model in memory", message, options, std::move(tensors));
}

}  // namespace sardonyx::onnx
