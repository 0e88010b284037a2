#include "tests/conformance/run_case.h"

#include <algorithm>
#include <cmath>
#include <fmt/core.h>

#include "apps/values/compare.h"
#include "base/fail.h"
#include "base/numeric/numeric.h"
#include "tests/conformance/model_scan.h"

namespace sardonyx::conformance {
namespace {

namespace fs = std::filesystem;

/// The files prefix_0.pb, prefix_1.pb, ... of a data set, each read as what the port of its number is.
std::vector<Value> read_values(const fs::path& folder, const std::string& prefix,
                               const std::vector<ModelScan::Port>& ports) {
  std::vector<Value> values;
  for (std::size_t i = 0;; ++i) {
    const fs::path file = folder / (prefix + std::to_string(i) + ".pb");
    if (!fs::exists(file)) return values;
    if (i >= ports.size()) fail(ErrorCode::kInvalidModel, "'{}' belongs to no input or output", file.string());
    values.push_back(read_value_file(file, ports[i].kind));
  }
}

/// ONNX's runner feeds element i of n with i / n, computed in double and rounded to float.
Tensor ramp(const std::vector<std::int64_t>& dims) {
  Tensor tensor(ElementType::kFloat32, Shape(dims));
  const std::int64_t n = tensor.num_elements();
  for (std::int64_t i = 0; i < n; ++i) {
    tensor.mutable_data<float>()[i] = static_cast<float>(static_cast<double>(i) / static_cast<double>(n));
  }
  return tensor;
}

struct DataSet {
  NamedValues inputs;
  std::vector<Value> outputs;
};

DataSet light_data(const Case& test, const ModelScan& model) {
  DataSet data;
  for (const ModelScan::Port& port : model.inputs) {
    if (!model.initializers.count(port.name)) data.inputs.emplace_back(port.name, ramp(port.dims));
  }
  for (const fs::path& file : test.light_outputs) data.outputs.push_back(read_value_file(file));
  return data;
}

DataSet stored_data(const fs::path& folder, const ModelScan& model) {
  DataSet data;
  std::vector<Value> inputs = read_values(folder, "input_", model.inputs);
  for (std::size_t i = 0; i < inputs.size(); ++i) data.inputs.emplace_back(model.inputs[i].name, std::move(inputs[i]));
  data.outputs = read_values(folder, "output_", model.outputs);
  return data;
}

std::vector<DataSet> read_data(const Case& test, const ModelScan& model) {
  if (test.light) return {light_data(test, model)};
  std::vector<DataSet> sets;
  for (const fs::path& folder : test.data_sets) sets.push_back(stored_data(folder, model));
  return sets;
}

std::string check_values(const Session& session, const DataSet& data, const Case& test) {
  const std::vector<Value> outputs = session.run(data.inputs);
  if (outputs.size() != data.outputs.size()) {
    return fmt::format("expected {} outputs, found {}", data.outputs.size(), outputs.size());
  }
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const std::string why = values::difference(data.outputs[i], outputs[i], {test.rtol, test.atol});
    if (!why.empty()) return fmt::format("output {}: {}", i, why);
  }
  return {};
}

std::vector<double> to_doubles(const Tensor& tensor) {
  std::vector<double> values(static_cast<std::size_t>(tensor.num_elements()));
  for (std::size_t i = 0; i < values.size(); ++i) {
    switch (tensor.type()) {
      case ElementType::kFloat32: values[i] = tensor.data<float>()[i]; break;
      case ElementType::kFloat64: values[i] = tensor.data<double>()[i]; break;
      case ElementType::kFloat16: values[i] = static_cast<double>(tensor.data<Half>()[i]); break;
      case ElementType::kBFloat16: values[i] = static_cast<double>(tensor.data<BFloat16>()[i]); break;
      default: fail(ErrorCode::kInvalidModel, "expected a float tensor of draws, found {}", name(tensor.type()));
    }
  }
  return values;
}

/// The expected file holds one draw of NumPy's generator, so only its type and shape are comparable. The draws of
/// `kRuns` runs must be zeros and ones, with as many ones as the probabilities say: within five standard deviations.
/// `expanded`: the model is Bernoulli's function body, which as the standard has it draws 1 where a uniform number is
/// greater than p, so with probability 1 - p.
std::string check_draws(const Session& session, const DataSet& data, bool expanded) {
  constexpr int kRuns = 64;
  std::vector<double> p = to_doubles(data.inputs.at(0).second.tensor());
  if (expanded) std::transform(p.begin(), p.end(), p.begin(), [](double probability) { return 1 - probability; });
  const Tensor& expected = data.outputs.at(0).tensor();
  std::vector<double> first;
  double ones = 0;
  bool all_same = true;
  for (int run = 0; run < kRuns; ++run) {
    const Tensor drawn = session.run(data.inputs).at(0).tensor();
    if (drawn.type() != expected.type() || !(drawn.shape() == expected.shape())) {
      return fmt::format("expected {}{}, found {}{}", name(expected.type()), expected.shape().to_string(),
                         name(drawn.type()), drawn.shape().to_string());
    }
    const std::vector<double> draws = to_doubles(drawn);
    for (double draw : draws) {
      if (draw != 0 && draw != 1) return fmt::format("expected draws of 0 and 1, found {}", draw);
      ones += draw;
    }
    if (run == 0) first = draws;
    all_same = all_same && draws == first;
  }
  // A seeded model may draw the same in every run: then there is one sample, not kRuns of them.
  const double runs = all_same ? 1 : kRuns;
  if (all_same) ones /= kRuns;
  double mean = 0, variance = 0;
  for (double probability : p) {
    mean += runs * probability;
    variance += runs * probability * (1 - probability);
  }
  if (std::abs(ones - mean) > 5 * std::sqrt(variance)) {
    return fmt::format("expected about {:.1f} ones in {} runs, found {}", mean, runs, ones);
  }
  return {};
}

std::string run_checked(const Case& test, const SessionOptions& options) {
  const ModelScan model = scan_model(test.model);
  const std::vector<DataSet> sets = read_data(test, model);
  if (sets.empty()) return "the case has no data";
  const Session session = Session::load(test.model, options);
  for (const DataSet& data : sets) {
    if (data.outputs.empty()) return "the case has no expected outputs";
    const std::string why = test.judge == Judge::kDistribution
                                ? check_draws(session, data, test.name.ends_with("_expanded"))
                                : check_values(session, data, test);
    if (!why.empty()) return why;
  }
  return {};
}

}  // namespace

std::string run_case(const Case& test, const SessionOptions& options) {
  try {
    return run_checked(test, options);
  } catch (const Error& error) {
    return std::string(name(error.code())) + ": " + error.what();
  } catch (const std::exception& error) {
    return std::string("an exception that is no Error: ") + error.what();
  }
}

}  // namespace sardonyx::conformance
