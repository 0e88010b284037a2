# The HTTP service.
find_package(Boost 1.81 REQUIRED)
find_package(prometheus-cpp CONFIG REQUIRED)
sardonyx_layer(server DIR apps/server DEPS values pipeline LIBS PRIVATE Boost::headers prometheus-cpp::core)

# Boost.Asio fences memory in a way that ThreadSanitizer does not follow; GCC warns of it.
if(SARDONYX_SANITIZE MATCHES thread AND CMAKE_CXX_COMPILER_ID STREQUAL GNU)
  target_compile_options(sardonyx_server PRIVATE -Wno-tsan)
endif()
