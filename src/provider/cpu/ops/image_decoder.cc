#include <algorithm>
#include <string>

#include "provider/cpu/images/decode.h"
#include "provider/cpu/ops/image.h"

namespace sardonyx::provider::cpu {
namespace {

/// A picture's file to [height, width, channels]; what can't be decoded gives [0, 0, channels], as the operator has it.
class ImageDecoderKernel final : public Kernel {
 public:
  explicit ImageDecoderKernel(const NodeDesc& node) {
    const std::string format = node.attributes->get_string("pixel_format", "RGB");
    gray_ = format == "Grayscale";
    reversed_ = format == "BGR";
  }

  void run(RunContext& context) const override {
    const TensorView& encoded = context.input(0);
    const std::optional<DecodedImage> image =
        decode_image({encoded.data<std::uint8_t>(), static_cast<std::size_t>(encoded.num_elements())});
    if (!context.wants_output(0)) return;
    const std::int64_t channels = gray_ ? 1 : 3;
    if (!image) {
      context.allocate_output(0, {0, 0, channels});
      return;
    }
    auto* out = context.allocate_output(0, {image->height, image->width, channels}).mutable_data<std::uint8_t>();
    const std::uint8_t* in = image->rgb.data();
    for (std::int64_t i = 0; i < image->height * image->width; ++i, in += 3, out += channels) {
      if (gray_)
        *out = luma(in);
      else if (reversed_)
        std::reverse_copy(in, in + 3, out);
      else
        std::copy_n(in, 3, out);
    }
  }

 private:
  /// ITU-R BT.601 in 16-bit fixed point.
  static std::uint8_t luma(const std::uint8_t* rgb) {
    return static_cast<std::uint8_t>((rgb[0] * 19595u + rgb[1] * 38470u + rgb[2] * 7471u + 0x8000u) >> 16);
  }

  bool gray_ = false, reversed_ = false;
};

Support supports_image_decoder(const NodeDesc& node) {
  return node.input_type(0) == ElementType::kUInt8 ? Support::accept() : decline_type(node, 0);
}

}  // namespace

void add_image_decoder_kernels(KernelTable& table) {
  table.push_back({"", "ImageDecoder", supports_image_decoder, make<ImageDecoderKernel>});
}

}  // namespace sardonyx::provider::cpu
