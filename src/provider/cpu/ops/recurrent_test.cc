#include "provider/cpu/ops/op_test_util.h"

namespace sardonyx::provider::cpu {
namespace {

using namespace testing;  // NOLINT(google-build-using-namespace)

struct Sizes {
  std::int64_t sequence, batch, input, hidden;
};

double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

/// A layer's weights and states; everything optional is given.
struct Layer {
  std::string op;
  std::int64_t gates;
  Sizes s;
  Tensor x, w, r, b, h, c, p;

  Layer(const std::string& name, Sizes sizes, std::int64_t directions = 1)
      : op(name),
        gates(name == "LSTM"  ? 4
              : name == "GRU" ? 3
                              : 1),
        s(sizes) {
    x = random_floats({s.sequence, s.batch, s.input}, 1);
    w = random_floats({directions, gates * s.hidden, s.input}, 2);
    r = random_floats({directions, gates * s.hidden, s.hidden}, 3);
    b = random_floats({directions, 2 * gates * s.hidden}, 4);
    h = random_floats({directions, s.batch, s.hidden}, 5);
    c = random_floats({directions, s.batch, s.hidden}, 6);
    p = random_floats({directions, 3 * s.hidden}, 7);
  }
  std::vector<Value> inputs(Value lengths = {}) const {
    std::vector<Value> result = {x, w, r, b, std::move(lengths), h};
    if (op == "LSTM") result.insert(result.end(), {c, p});
    return result;
  }
  std::size_t outputs() const { return op == "LSTM" ? 3 : 2; }
};

/// One batch item through one forward direction, by the operators' equations.
struct Walk {
  const Layer& l;
  bool linear_before_reset = false;
  std::vector<double> h, c, y;

  Walk(const Layer& layer, std::int64_t item, std::int64_t steps, bool linear = false)
      : l(layer), linear_before_reset(linear) {
    for (std::int64_t j = 0; j < l.s.hidden; ++j) {
      h.push_back(element(l.h, item * l.s.hidden + j));
      c.push_back(element(l.c, item * l.s.hidden + j));
    }
    for (std::int64_t t = 0; t < steps; ++t) {
      step(t * l.s.batch + item);
      y.insert(y.end(), h.begin(), h.end());
    }
  }
  double input(std::int64_t row, std::int64_t gate) const {
    double total = element(l.b, gate);
    for (std::int64_t i = 0; i < l.s.input; ++i)
      total += element(l.x, row * l.s.input + i) * element(l.w, gate * l.s.input + i);
    return total;
  }
  double recurrent(const std::vector<double>& state, std::int64_t gate) const {
    double total = element(l.b, l.gates * l.s.hidden + gate);
    for (std::int64_t i = 0; i < l.s.hidden; ++i)
      total += state[static_cast<std::size_t>(i)] * element(l.r, gate * l.s.hidden + i);
    return total;
  }
  void step(std::int64_t row) {
    const std::int64_t n = l.s.hidden;
    const std::vector<double> old = h;
    std::vector<double> reset = h;
    for (std::int64_t j = 0; l.op == "GRU" && j < n; ++j) {
      reset[static_cast<std::size_t>(j)] = sigmoid(input(row, n + j) + recurrent(old, n + j));
    }
    std::vector<double> scaled = old;
    for (std::size_t j = 0; j < scaled.size(); ++j) scaled[j] *= reset[j];
    for (std::int64_t j = 0; j < n; ++j) {
      double& state = h[static_cast<std::size_t>(j)];
      const auto gate = [&](std::int64_t g) { return input(row, g * n + j) + recurrent(old, g * n + j); };
      if (l.op == "RNN") {
        state = std::tanh(gate(0));
      } else if (l.op == "GRU") {
        const double hidden =
            linear_before_reset ? input(row, 2 * n + j) + reset[static_cast<std::size_t>(j)] * recurrent(old, 2 * n + j)
                                : input(row, 2 * n + j) + recurrent(scaled, 2 * n + j);
        const double z = sigmoid(gate(0));
        state = (1 - z) * std::tanh(hidden) + z * state;
      } else {
        double& cell = c[static_cast<std::size_t>(j)];
        const double in = sigmoid(gate(0) + element(l.p, j) * cell),
                     forget = sigmoid(gate(2) + element(l.p, 2 * n + j) * cell);
        cell = forget * cell + in * std::tanh(gate(3));
        state = sigmoid(gate(1) + element(l.p, n + j) * cell) * std::tanh(cell);
      }
    }
  }
};

TEST(Recurrent, MatchesTheEquations) {
  const Sizes sizes[] = {{1, 1, 1, 1}, {3, 2, 4, 5}, {2, 17, 3, 16}, {4, 1, 8, 33}};
  for (const char* op : {"RNN", "GRU", "LSTM"}) {
    for (const Sizes& s : sizes) {
      for (bool linear : {false, true}) {
        if (linear && std::string(op) != "GRU") continue;
        SCOPED_TRACE(std::string(op) + " hidden " + std::to_string(s.hidden));
        const Layer layer(op, s);
        const auto outputs =
            run(op, attributes({{"hidden_size", s.hidden}, {"linear_before_reset", std::int64_t{linear ? 1 : 0}}}),
                layer.inputs(), layer.outputs());
        std::vector<double> y(static_cast<std::size_t>(s.sequence * s.batch * s.hidden)), last, cell;
        for (std::int64_t item = 0; item < s.batch; ++item) {
          const Walk walk(layer, item, s.sequence, linear);
          for (std::int64_t t = 0; t < s.sequence; ++t) {
            for (std::int64_t j = 0; j < s.hidden; ++j)
              y[static_cast<std::size_t>((t * s.batch + item) * s.hidden + j)] =
                  walk.y[static_cast<std::size_t>(t * s.hidden + j)];
          }
          last.insert(last.end(), walk.h.begin(), walk.h.end());
          cell.insert(cell.end(), walk.c.begin(), walk.c.end());
        }
        expect_values(outputs[0], {s.sequence, 1, s.batch, s.hidden}, y);
        expect_values(outputs[1], {1, s.batch, s.hidden}, last);
        if (layer.outputs() == 3) expect_values(outputs[2], {1, s.batch, s.hidden}, cell);
        std::vector<Tensor> tensors;
        for (const Value& input : layer.inputs()) tensors.push_back(input.is_none() ? Tensor() : input.tensor());
        expect_in_all_types(
            op, attributes({{"hidden_size", s.hidden}, {"linear_before_reset", std::int64_t{linear ? 1 : 0}}}), tensors,
            {s.sequence, 1, s.batch, s.hidden}, y);
      }
    }
  }
}

/// Rows of x in another order of time.
Tensor reversed(const Tensor& x) {
  Tensor result(x.type(), x.shape());
  const std::int64_t steps = x.shape()[0], size = x.num_elements() / steps;
  for (std::int64_t t = 0; t < steps; ++t)
    std::copy_n(x.data<float>() + t * size, size, result.mutable_data<float>() + (steps - 1 - t) * size);
  return result;
}

Tensor direction_of(const Tensor& both, std::int64_t direction) {
  Shape shape = both.shape();
  shape[0] = 1;
  Tensor result(both.type(), shape);
  std::copy_n(both.data<float>() + direction * shape.num_elements(), shape.num_elements(),
              result.mutable_data<float>());
  return result;
}

TEST(Recurrent, BothDirectionsAreAForwardAndAReverseLayer) {
  for (const char* op : {"RNN", "GRU", "LSTM"}) {
    SCOPED_TRACE(op);
    const Layer both(op, {4, 3, 5, 6}, 2);
    const auto outputs =
        run(op, attributes({{"hidden_size", std::int64_t{6}}, {"direction", std::string("bidirectional")}}),
            both.inputs(), both.outputs());
    Layer one = both;
    for (std::int64_t d : {0, 1}) {
      one.w = direction_of(both.w, d), one.r = direction_of(both.r, d), one.b = direction_of(both.b, d);
      one.h = direction_of(both.h, d), one.c = direction_of(both.c, d), one.p = direction_of(both.p, d);
      const std::string direction = d == 0 ? "forward" : "reverse";
      const auto alone = run(op, attributes({{"hidden_size", std::int64_t{6}}, {"direction", direction}}), one.inputs(),
                             one.outputs());
      for (std::int64_t t = 0; t < 4; ++t) {
        for (std::int64_t i = 0; i < 18; ++i)
          EXPECT_EQ(element(outputs[0].tensor(), (t * 2 + d) * 18 + i), element(alone[0].tensor(), t * 18 + i));
      }
      EXPECT_TRUE(identical(direction_of(outputs[1].tensor(), d).view(), alone[1].tensor().view()));
      if (d == 1) {  // and a reverse layer is a forward layer on the reversed sequence
        Layer turned = one;
        turned.x = reversed(one.x);
        const auto forward = run(op, attributes({{"hidden_size", std::int64_t{6}}}), turned.inputs(), turned.outputs());
        EXPECT_TRUE(identical(reversed(forward[0].tensor()).view(), alone[0].tensor().view()));
      }
    }
  }
}

TEST(Recurrent, ShortSequencesEndEarly) {
  for (const char* op : {"RNN", "GRU", "LSTM"}) {
    for (const char* direction : {"forward", "reverse"}) {
      SCOPED_TRACE(std::string(op) + " " + direction);
      const Layer layer(op, {4, 3, 2, 5});
      const auto attrs = attributes({{"hidden_size", std::int64_t{5}}, {"direction", std::string(direction)}});
      const std::int32_t lengths[] = {4, 2, 0};
      const auto outputs = run(op, attrs, layer.inputs(tensor<std::int32_t>({3}, {4, 2, 0})), layer.outputs());
      for (std::int64_t item = 0; item < 3; ++item) {
        const std::int64_t steps = lengths[item];
        for (std::int64_t t = steps; t < 4; ++t) {
          for (std::int64_t j = 0; j < 5; ++j) EXPECT_EQ(element(outputs[0].tensor(), (t * 3 + item) * 5 + j), 0);
        }
        Layer cut = layer;  // the same sequences, cut at this one's length
        if (steps == 0) continue;
        cut.s.sequence = steps;
        cut.x = Tensor(ElementType::kFloat32, {steps, 3, 2});
        std::copy_n(layer.x.data<float>(), steps * 6, cut.x.mutable_data<float>());
        const auto alone = run(op, attrs, cut.inputs(), cut.outputs());
        for (std::int64_t j = 0; j < 5; ++j)
          EXPECT_EQ(element(outputs[1].tensor(), item * 5 + j), element(alone[1].tensor(), item * 5 + j));
      }
    }
  }
}

TEST(Recurrent, BatchFirstIsTheSameTransposed) {
  const Layer layer("LSTM", {3, 2, 4, 5});
  Tensor x(ElementType::kFloat32, {2, 3, 4});
  for (std::int64_t t = 0; t < 3; ++t) {
    for (std::int64_t b = 0; b < 2; ++b)
      std::copy_n(layer.x.data<float>() + (t * 2 + b) * 4, 4, x.mutable_data<float>() + (b * 3 + t) * 4);
  }
  const auto plain = run("LSTM", attributes({{"hidden_size", std::int64_t{5}}}), {layer.x, layer.w, layer.r}, 3);
  const auto turned = run("LSTM", attributes({{"hidden_size", std::int64_t{5}}, {"layout", std::int64_t{1}}}),
                          {x, layer.w, layer.r}, 3);
  EXPECT_EQ(turned[0].tensor().shape().to_string(), "[2,3,1,5]");
  EXPECT_EQ(turned[1].tensor().shape().to_string(), "[2,1,5]");
  for (std::int64_t t = 0; t < 3; ++t) {
    for (std::int64_t b = 0; b < 2; ++b) {
      for (std::int64_t j = 0; j < 5; ++j)
        EXPECT_EQ(element(turned[0].tensor(), (b * 3 + t) * 5 + j), element(plain[0].tensor(), (t * 2 + b) * 5 + j));
    }
  }
}

TEST(Recurrent, AnItemDoesNotDependOnItsBatch) {
  for (const char* op : {"RNN", "GRU", "LSTM"}) {
    const Layer batch(op, {3, 21, 6, 40});
    const auto outputs = run(op, attributes({{"hidden_size", std::int64_t{40}}}), batch.inputs(), batch.outputs());
    Layer one = batch;
    const std::int64_t item = 19;
    one.s.batch = 1;
    one.x = Tensor(ElementType::kFloat32, {3, 1, 6});
    for (std::int64_t t = 0; t < 3; ++t)
      std::copy_n(batch.x.data<float>() + (t * 21 + item) * 6, 6, one.x.mutable_data<float>() + t * 6);
    one.h = Tensor(ElementType::kFloat32, {1, 1, 40}), one.c = Tensor(ElementType::kFloat32, {1, 1, 40});
    std::copy_n(batch.h.data<float>() + item * 40, 40, one.h.mutable_data<float>());
    std::copy_n(batch.c.data<float>() + item * 40, 40, one.c.mutable_data<float>());
    const auto alone = run(op, attributes({{"hidden_size", std::int64_t{40}}}), one.inputs(), one.outputs());
    for (std::int64_t j = 0; j < 40; ++j)
      EXPECT_EQ(element(outputs[1].tensor(), item * 40 + j), element(alone[1].tensor(), j)) << op;
  }
}

TEST(Recurrent, ActivationsAndClip) {
  struct Case {
    const char* function;
    std::vector<float> alpha, beta;
    double (*wanted)(double);
  };
  const Case cases[] = {
      {"Relu", {}, {}, [](double x) { return std::max(x, 0.0); }},
      {"Sigmoid", {}, {}, sigmoid},
      {"affine", {2}, {1}, [](double x) { return 2 * x + 1; }},
      {"LeakyRelu", {}, {}, [](double x) { return x < 0 ? 0.01 * x : x; }},
      {"LeakyRelu", {0.5}, {}, [](double x) { return x < 0 ? 0.5 * x : x; }},
      {"ThresholdedRelu", {}, {}, [](double x) { return x >= 1 ? x : 0; }},
      {"ScaledTanh", {2}, {0.5}, [](double x) { return 2 * std::tanh(0.5 * x); }},
      {"HardSigmoid", {}, {}, [](double x) { return std::min(1.0, std::max(0.0, 0.2 * x + 0.5)); }},
      {"Elu", {}, {}, [](double x) { return x < 0 ? std::expm1(x) : x; }},
      {"Softsign", {}, {}, [](double x) { return x / (1 + std::abs(x)); }},
      {"Softplus", {}, {}, [](double x) { return std::log1p(std::exp(x)); }},
  };
  const std::vector<float> x = {-3, -0.5f, 0, 0.5f, 3};
  for (const Case& c : cases) {
    for (float clip : {0.0f, 1.5f}) {
      SCOPED_TRACE(std::string(c.function) + " clip " + std::to_string(clip));
      graph::Attributes attrs =
          attributes({{"hidden_size", std::int64_t{1}}, {"activations", std::vector<std::string>{c.function}}});
      if (!c.alpha.empty()) attrs.set("activation_alpha", c.alpha);
      if (!c.beta.empty()) attrs.set("activation_beta", c.beta);
      if (clip > 0) attrs.set("clip", clip);
      std::vector<double> wanted;
      for (float value : x) wanted.push_back(c.wanted(clip > 0 ? std::clamp(value, -clip, clip) : value));
      expect_values(run("RNN", attrs, {floats({1, 5, 1}, x), floats({1, 1, 1}, {1}), floats({1, 1, 1}, {0})})[0],
                    {1, 1, 5, 1}, wanted);
    }
  }
}

TEST(Recurrent, EmptyAndErrors) {
  const Layer layer("LSTM", {2, 2, 3, 4});
  const auto attrs = attributes({{"hidden_size", std::int64_t{4}}});
  const auto empty =
      run("LSTM", attrs, {Tensor(ElementType::kFloat32, {0, 2, 3}), layer.w, layer.r, Value(), Value(), layer.h}, 3);
  EXPECT_EQ(empty[0].tensor().shape().to_string(), "[0,1,2,4]");
  EXPECT_TRUE(identical(empty[1].tensor().view(), layer.h.view()));
  expect_error(ErrorCode::kInvalidModel, "direction", "LSTM", attributes({{"direction", std::string("both")}}),
               layer.inputs());
  expect_error(ErrorCode::kInvalidModel, "hidden_size", "LSTM", attributes({{"hidden_size", std::int64_t{5}}}),
               layer.inputs());
  expect_error(ErrorCode::kInvalidModel, "activation", "LSTM",
               attributes({{"activations", std::vector<std::string>{"Tanh", "Tanh", "Sine"}}}), layer.inputs());
  expect_error(ErrorCode::kInvalidModel, "activations", "LSTM",
               attributes({{"activations", std::vector<std::string>{"Tanh"}}}), layer.inputs());
  expect_error(ErrorCode::kInvalidArgument, "sequence_lens", "LSTM", attrs,
               layer.inputs(tensor<std::int32_t>({2}, {1, 3})));
  expect_error(ErrorCode::kInvalidArgument, "sequence_lens", "LSTM", attrs,
               layer.inputs(tensor<std::int32_t>({2}, {1, -1})));
}

}  // namespace
}  // namespace sardonyx::provider::cpu
