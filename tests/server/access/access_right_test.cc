#include "server/access/access_right.h"

#include <catch2/catch.hpp>

namespace gatherd {

TEST_CASE("Lookups, descriptions and reflection need to read", "[access]") {
  for (const char* path : {"/gatherd.v1.EmbeddingService/Lookup",
                           "/gatherd.v1.EmbeddingService/LookupStream",
                           "/gatherd.v1.TableService/ListTables",
                           "/gatherd.v1.TableService/GetServerInfo",
                           "/grpc.reflection.v1alpha.ServerReflection/"
                           "ServerReflectionInfo",
                           "/grpc.reflection.v1.ServerReflection/"
                           "ServerReflectionInfo"}) {
    INFO(path);
    CHECK(RightForMethod(path) == AccessRight::kRead);
  }
}

TEST_CASE("Health needs no token", "[access]") {
  CHECK(RightForMethod("/grpc.health.v1.Health/Check") == AccessRight::kNone);
  CHECK(RightForMethod("/grpc.health.v1.Health/Watch") == AccessRight::kNone);
}

TEST_CASE("Everything else needs to write", "[access]") {
  for (const char* path :
       {"/gatherd.v1.EmbeddingService/Update",
        "/gatherd.v1.EmbeddingService/UpdateStream",
        "/gatherd.v1.EmbeddingService/Erase",
        "/gatherd.v1.TableService/SaveTable",
        "/gatherd.v1.TableService/LoadTable",
        // What only looks like a method that needs less.
        "/gatherd.v1.EmbeddingService/lookup",
        "/gatherd.v1.EmbeddingService/Lookup/",
        "/gatherd.v1.EmbeddingService/LookupX",
        "/gatherd.v1.TableService/Lookup", "gatherd.v1.EmbeddingService/Lookup",
        "//gatherd.v1.EmbeddingService/Lookup", "/grpc.health.v1.HealthX/Check",
        "/x/grpc.health.v1.Health/Check", "/grpc.reflectionX", "/", ""}) {
    INFO(path);
    CHECK(RightForMethod(path) == AccessRight::kWrite);
  }
}

}  // namespace gatherd
