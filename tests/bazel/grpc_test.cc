#include <catch2/catch.hpp>

#include "absl/strings/str_cat.h"
#include "proto/gatherd/v1/gatherd.grpc.pb.h"

TEST_CASE("Generated messages and services are usable") {
  gatherd::v1::TableLookup lookup;
  lookup.set_table(absl::StrCat("words", 1));
  lookup.add_keys(-1);
  CHECK(lookup.SerializeAsString().size() > 8);
  CHECK(gatherd::v1::EmbeddingService::service_full_name() ==
        std::string("gatherd.v1.EmbeddingService"));
}
