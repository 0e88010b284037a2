find_package(simdjson REQUIRED)
target_link_libraries(${LAYER_TARGET} PRIVATE simdjson::simdjson)
