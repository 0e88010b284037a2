# Values in files (.npy, .npz, .pb, JSON), their comparison, and made-up ones.
find_package(nlohmann_json REQUIRED)
find_package(ZLIB REQUIRED)
sardonyx_layer(values DIR apps/values DEPS api LIBS PUBLIC nlohmann_json::nlohmann_json PRIVATE ZLIB::ZLIB)
