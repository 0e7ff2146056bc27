#include "server/lookup_operation.h"

#include <grpcpp/support/byte_buffer.h>

#include <utility>

#include "server/request_codec.h"

namespace gatherd {
namespace {

class LookupOperation final : public Operation {
 public:
  LookupOperation(const ServingContext& context, RpcMethod method)
      : Operation(context, method) {}

 private:
  absl::Status Prepare(const grpc::ByteBuffer& request,
                       absl::Time deadline) override {
    auto decoded = Decode<DecodedLookup>(request);
    if (!decoded.ok()) return decoded.status();
    decoded_ = *std::move(decoded);
    auto ticket = Admit(*decoded_, request.Length());
    if (!ticket.ok()) return ticket.status();
    job_.segments = decoded_->AllocateReply(*std::move(ticket));
    job_.deadline = deadline;
    job_.done = [this](absl::Status status) { OnJobDone(std::move(status)); };
    return absl::OkStatus();
  }

  void Submit() override { context().dispatcher.SubmitLookup(&job_); }

  absl::Status Encode(grpc::ByteBuffer* reply) override {
    TableMetrics& metrics = context().metrics.tables();
    for (size_t part = 0; part < job_.segments.size(); ++part) {
      metrics.LookedUp(*decoded_->entries()[part],
                       job_.segments[part].batch.keys.size(),
                       job_.segments[part].result);
    }
    if (job_.launch_requests > 0) {
      context().metrics.requests().Batch(job_.launch_requests);
    }
    return decoded_->EncodeReply(job_.segments, reply);
  }

  std::atomic<bool>& cancelled() override { return job_.cancelled; }
  const StageTimes& times() const override { return job_.times; }

  std::unique_ptr<DecodedLookup> decoded_;
  LookupJob job_;
};

}  // namespace

std::unique_ptr<Operation> CreateLookupOperation(const ServingContext& context,
                                                 RpcMethod method) {
  return std::make_unique<LookupOperation>(context, method);
}

}  // namespace gatherd
