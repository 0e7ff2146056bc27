#include "server/table_service.h"

#include <grpcpp/server_context.h>
#include <grpcpp/support/byte_buffer.h>
#include <grpcpp/support/proto_buffer_reader.h>
#include <grpcpp/support/server_callback.h>

#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "cli/version.h"
#include "proto/gatherd/v1/gatherd.grpc.pb.h"
#include "server/call_clock.h"
#include "server/fault.h"
#include "server/grpc_status.h"

namespace gatherd {
namespace {

using RawService = v1::TableService::WithRawCallbackMethod_ListTables<
    v1::TableService::WithRawCallbackMethod_GetServerInfo<
        v1::TableService::Service>>;
using grpc::ByteBuffer;
using grpc::CallbackServerContext;

void DescribeTier(const TierStats& tier, v1::TierInfo* info) {
  info->set_kind(std::string(TierKindName(tier.kind)));
  info->set_capacity_rows(tier.capacity_rows);
  info->set_num_rows(tier.num_rows);
  info->set_memory_bytes(tier.memory_bytes);
  for (uint64_t rows : tier.rows_per_device) info->add_rows_per_device(rows);
}

void DescribeTable(const CatalogEntry& entry, v1::TableInfo* info) {
  const TableSpec& spec = entry.spec();
  info->set_name(spec.name);
  info->set_data_type(static_cast<v1::DataType>(spec.data_type));
  info->set_dim(spec.dim);
  info->set_key_space(std::string(KeySpaceName(spec.key_space)));
  const TableStats stats = entry.Stats();
  info->set_num_rows(stats.num_rows);
  info->set_revision(stats.revision);
  for (const TierStats& tier : stats.tiers) {
    DescribeTier(tier, info->add_tiers());
  }
}

class TableServiceImpl final : public RawService {
 public:
  TableServiceImpl(const ServingContext& context, ServerDescription description)
      : context_(context), description_(std::move(description)) {}

  grpc::ServerUnaryReactor* ListTables(CallbackServerContext* call,
                                       const ByteBuffer* request,
                                       ByteBuffer* reply) override {
    return Answer<v1::ListTablesRequest, v1::ListTablesResponse>(
        RpcMethod::kListTables, call, *request, reply,
        [this](v1::ListTablesResponse* response) {
          for (const auto& entry : context_.catalog.entries()) {
            DescribeTable(*entry, response->add_tables());
          }
        });
  }

  grpc::ServerUnaryReactor* GetServerInfo(CallbackServerContext* call,
                                          const ByteBuffer* request,
                                          ByteBuffer* reply) override {
    return Answer<v1::GetServerInfoRequest, v1::GetServerInfoResponse>(
        RpcMethod::kGetServerInfo, call, *request, reply,
        [this](v1::GetServerInfoResponse* response) {
          response->set_version(kGatherdVersion);
          response->set_backend(description_.backend);
          for (const std::string& device : description_.devices) {
            response->add_devices(device);
          }
          response->set_max_keys_per_request(
              context_.limits.max_keys_per_request);
          response->set_max_message_bytes(context_.limits.max_message_bytes);
        });
  }

 private:
  // These answers take microseconds: they are given on gRPC's thread.
  template <typename Request, typename Response, typename Fill>
  grpc::ServerUnaryReactor* Answer(RpcMethod method,
                                   CallbackServerContext* call,
                                   const ByteBuffer& request, ByteBuffer* reply,
                                   Fill fill) {
    CallClock clock(context_.metrics.rpcs(), context_.refusals, method);
    absl::Status status = CatchExceptions(
        [&] { return AnswerRequest<Request, Response>(request, reply, fill); });
    status = ReportIfFault(RpcMethodName(method), std::move(status));
    clock.Handled(status);
    grpc::ServerUnaryReactor* reactor = call->DefaultReactor();
    reactor->Finish(ToGrpcStatus(status));
    return reactor;
  }

  template <typename Request, typename Response, typename Fill>
  absl::Status AnswerRequest(const ByteBuffer& request, ByteBuffer* reply,
                             Fill fill) {
    absl::Status late = CheckTakesCalls(context_);
    if (!late.ok()) return late;
    ByteBuffer buffer = request;  // a reference, not a copy
    grpc::ProtoBufferReader reader(&buffer);
    Request message;
    if (!request.Valid() || !message.ParseFromZeroCopyStream(&reader)) {
      return absl::InvalidArgumentError(absl::StrCat("the ", request.Length(),
                                                     " bytes given are no ",
                                                     message.GetTypeName()));
    }
    Response response;
    fill(&response);
    const grpc::Slice slice(response.SerializeAsString());
    *reply = ByteBuffer(&slice, 1);
    return absl::OkStatus();
  }

  const ServingContext& context_;
  const ServerDescription description_;
};

}  // namespace

std::unique_ptr<grpc::Service> CreateTableService(
    const ServingContext& context, ServerDescription description) {
  return std::make_unique<TableServiceImpl>(context, std::move(description));
}

}  // namespace gatherd
