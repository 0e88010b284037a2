# The HTTP service.
find_package(Boost 1.81 REQUIRED)
find_package(prometheus-cpp CONFIG REQUIRED)
sardonyx_layer(server DIR apps/server DEPS values pipeline LIBS PRIVATE Boost::headers prometheus-cpp::core)
