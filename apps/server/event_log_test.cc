#include "apps/server/event_log.h"

#include <gtest/gtest.h>
#include <limits>

namespace sardonyx::server {
namespace {

TEST(EventLog, OneLineOfJson) {
  EXPECT_EQ(event_line(1'700'000'000'123, LogLevel::kInfo, "request",
                       {{"path", "/a\"b\n"}, {"status", std::int64_t{200}}, {"ms", 1.5}, {"bad", "\xff"}}),
            "{\"time\":\"2023-11-14T22:13:20.123Z\",\"level\":\"info\",\"event\":\"request\",\"path\":\"/"
            "a\\\"b\\n\",\"status\":200,"
            "\"ms\":1.500,\"bad\":\"\xef\xbf\xbd\"}");
  EXPECT_EQ(event_line(0, LogLevel::kError, "x", {{"n", std::numeric_limits<double>::quiet_NaN()}}),
            "{\"time\":\"1970-01-01T00:00:00.000Z\",\"level\":\"error\",\"event\":\"x\",\"n\":null}");
}

}  // namespace
}  // namespace sardonyx::server
