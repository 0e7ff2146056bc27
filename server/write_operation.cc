#include "server/write_operation.h"

#include <grpcpp/support/byte_buffer.h>

#include <utility>
#include <vector>

#include "server/fault.h"
#include "server/request_codec.h"

namespace gatherd {
namespace {

// `Decoded` is DecodedUpdate or DecodedErase, `Result` one part's result.
template <typename Decoded, typename Result>
class WriteOperation : public Operation {
 public:
  WriteOperation(const ServingContext& context, RpcMethod method)
      : Operation(context, method) {}

 protected:
  // On a thread that may block.
  virtual absl::StatusOr<std::vector<Result>> Run(const Decoded& decoded) = 0;
  virtual void Count(const CatalogEntry& entry, const Result& result) = 0;

 private:
  absl::Status Prepare(const grpc::ByteBuffer& request,
                       absl::Time deadline) override {
    auto decoded = Decode<Decoded>(request);
    if (!decoded.ok()) return decoded.status();
    decoded_ = *std::move(decoded);
    auto ticket = Admit(*decoded_, request.Length());
    if (!ticket.ok()) return ticket.status();
    ticket_ = *std::move(ticket);
    job_.deadline = deadline;
    job_.run = [this] { return CatchExceptions([this] { return RunJob(); }); };
    job_.done = [this](absl::Status status) { OnJobDone(std::move(status)); };
    return absl::OkStatus();
  }

  absl::Status RunJob() {
    auto results = Run(*decoded_);
    if (!results.ok()) return results.status();
    results_ = *std::move(results);
    // Here, not when encoding: the rows are written even if the answer is late.
    for (size_t part = 0; part < results_.size(); ++part) {
      Count(*decoded_->entries()[part], results_[part]);
    }
    return absl::OkStatus();
  }

  void Submit() override { context().dispatcher.SubmitWrite(&job_); }

  absl::Status Encode(grpc::ByteBuffer* reply) override {
    EncodeReply(results_, reply);
    return absl::OkStatus();
  }

  std::atomic<bool>& cancelled() override { return job_.cancelled; }
  const StageTimes& times() const override { return job_.times; }

  std::unique_ptr<Decoded> decoded_;
  AdmissionTicket ticket_;
  WriteJob job_;
  std::vector<Result> results_;
};

class UpdateOperation final
    : public WriteOperation<DecodedUpdate, UpdateResult> {
 public:
  using WriteOperation::WriteOperation;

 private:
  absl::StatusOr<std::vector<UpdateResult>> Run(
      const DecodedUpdate& decoded) override {
    return UpdateTables(decoded.batches());
  }
  void Count(const CatalogEntry& entry, const UpdateResult& result) override {
    context().metrics.tables().Updated(entry, result);
  }
};

class EraseOperation final : public WriteOperation<DecodedErase, EraseResult> {
 public:
  using WriteOperation::WriteOperation;

 private:
  absl::StatusOr<std::vector<EraseResult>> Run(
      const DecodedErase& decoded) override {
    std::vector<EraseResult> results;
    for (size_t part = 0; part < decoded.entries().size(); ++part) {
      auto result = decoded.entries()[part]->table()->Erase(decoded.keys(part));
      if (!result.ok()) return result.status();
      results.push_back(*result);
    }
    return results;
  }
  void Count(const CatalogEntry& entry, const EraseResult& result) override {
    context().metrics.tables().Erased(entry, result);
  }
};

}  // namespace

std::unique_ptr<Operation> CreateUpdateOperation(const ServingContext& context,
                                                 RpcMethod method) {
  return std::make_unique<UpdateOperation>(context, method);
}

std::unique_ptr<Operation> CreateEraseOperation(const ServingContext& context,
                                                RpcMethod method) {
  return std::make_unique<EraseOperation>(context, method);
}

}  // namespace gatherd
