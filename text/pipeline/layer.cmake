find_package(nlohmann_json REQUIRED)
target_link_libraries(${LAYER_TARGET} PRIVATE nlohmann_json::nlohmann_json)
