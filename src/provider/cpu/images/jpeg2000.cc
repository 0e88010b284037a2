#include <algorithm>
#include <cmath>
#include <cstring>
#include <memory>
#include <openjpeg.h>

#include "provider/cpu/images/decode.h"

namespace sardonyx::provider::cpu {
namespace {

/// A file in memory for OpenJPEG to read.
struct MemoryStream {
  EncodedImage bytes;
  std::size_t at = 0;

  static OPJ_SIZE_T read(void* to, OPJ_SIZE_T count, void* user) {
    auto& stream = *static_cast<MemoryStream*>(user);
    if (stream.at >= stream.bytes.size()) return static_cast<OPJ_SIZE_T>(-1);
    const std::size_t taken = std::min<std::size_t>(count, stream.bytes.size() - stream.at);
    std::memcpy(to, stream.bytes.data() + stream.at, taken);
    stream.at += taken;
    return taken;
  }
  static OPJ_OFF_T skip(OPJ_OFF_T count, void* user) {
    auto& stream = *static_cast<MemoryStream*>(user);
    if (count < 0) return -1;
    const auto taken = std::min<OPJ_OFF_T>(
        count, static_cast<OPJ_OFF_T>(stream.bytes.size() - std::min(stream.at, stream.bytes.size())));
    stream.at += static_cast<std::size_t>(taken);
    return taken;
  }
  static OPJ_BOOL seek(OPJ_OFF_T position, void* user) {
    auto& stream = *static_cast<MemoryStream*>(user);
    if (position < 0 || static_cast<std::size_t>(position) > stream.bytes.size()) return OPJ_FALSE;
    stream.at = static_cast<std::size_t>(position);
    return OPJ_TRUE;
  }
};

// Codecs and streams are the same C type, so each has a deleter of its own.
struct DestroyCodec {
  void operator()(opj_codec_t* codec) const { opj_destroy_codec(codec); }
};
struct DestroyStream {
  void operator()(opj_stream_t* stream) const { opj_stream_destroy(stream); }
};
struct DestroyImage {
  void operator()(opj_image_t* image) const { opj_image_destroy(image); }
};

std::unique_ptr<opj_stream_t, DestroyStream> open_stream(MemoryStream& memory) {
  std::unique_ptr<opj_stream_t, DestroyStream> stream(opj_stream_default_create(OPJ_TRUE));
  if (!stream) return stream;
  opj_stream_set_read_function(stream.get(), MemoryStream::read);
  opj_stream_set_skip_function(stream.get(), MemoryStream::skip);
  opj_stream_set_seek_function(stream.get(), MemoryStream::seek);
  opj_stream_set_user_data(stream.get(), &memory, nullptr);
  opj_stream_set_user_data_length(stream.get(), memory.bytes.size());
  return stream;
}

/// A component's sample at a pixel of the picture, brought to 8 bits.
int sample(const opj_image_comp_t& component, std::int64_t row, std::int64_t column) {
  const std::int64_t x = std::min<std::int64_t>(column / component.dx, component.w - 1),
                     y = std::min<std::int64_t>(row / component.dy, component.h - 1);
  std::int64_t value = component.data[y * component.w + x];
  const auto precision = static_cast<int>(component.prec);
  if (component.sgnd) value += std::int64_t{1} << (precision - 1);
  value = precision > 8 ? value >> (precision - 8) : precision < 8 ? value << (8 - precision) : value;
  return static_cast<int>(std::clamp<std::int64_t>(value, 0, 255));
}

std::uint8_t to_byte(double value) { return static_cast<std::uint8_t>(std::clamp(std::nearbyint(value), 0.0, 255.0)); }

void write_pixel(const opj_image_t& from, std::int64_t row, std::int64_t column, std::uint8_t* out) {
  const bool color = from.numcomps >= 3;
  int values[3];
  for (int c = 0; c < 3; ++c) values[c] = sample(from.comps[color ? c : 0], row, column);
  if (color && from.color_space == OPJ_CLRSPC_SYCC) {  // the coefficients of JPEG's own conversion
    const double y = values[0], cb = values[1] - 128, cr = values[2] - 128;
    out[0] = to_byte(y + 1.402 * cr);
    out[1] = to_byte(y - 0.344136 * cb - 0.714136 * cr);
    out[2] = to_byte(y + 1.772 * cb);
    return;
  }
  for (int c = 0; c < 3; ++c) out[c] = static_cast<std::uint8_t>(values[c]);
}

bool usable(const opj_image_t& image) {
  if (image.numcomps == 0 || image.x1 <= image.x0 || image.y1 <= image.y0) return false;
  return std::all_of(image.comps, image.comps + image.numcomps, [](const opj_image_comp_t& c) {
    return c.data && c.w > 0 && c.h > 0 && c.dx > 0 && c.dy > 0 && c.prec >= 1 && c.prec <= 31;
  });
}

}  // namespace

std::optional<DecodedImage> decode_jpeg2000(EncodedImage bytes) {
  MemoryStream memory{bytes};
  const auto stream = open_stream(memory);
  const std::unique_ptr<opj_codec_t, DestroyCodec> codec(
      opj_create_decompress(bytes[0] == 0xFF ? OPJ_CODEC_J2K : OPJ_CODEC_JP2));
  if (!stream || !codec) return std::nullopt;
  opj_dparameters_t parameters;
  opj_set_default_decoder_parameters(&parameters);
  opj_image_t* read = nullptr;
  if (!opj_setup_decoder(codec.get(), &parameters) || !opj_read_header(stream.get(), codec.get(), &read)) {
    opj_image_destroy(read);
    return std::nullopt;
  }
  const std::unique_ptr<opj_image_t, DestroyImage> image(read);
  if (image->x1 <= image->x0 || image->y1 <= image->y0) return std::nullopt;
  DecodedImage decoded(std::int64_t{image->y1} - image->y0, std::int64_t{image->x1} - image->x0);
  if (!opj_decode(codec.get(), stream.get(), image.get()) || !usable(*image)) return std::nullopt;
  for (std::int64_t y = 0; y < decoded.height; ++y) {
    for (std::int64_t x = 0; x < decoded.width; ++x) write_pixel(*image, y, x, decoded.pixel(y, x));
  }
  return decoded;
}

}  // namespace sardonyx::provider::cpu
