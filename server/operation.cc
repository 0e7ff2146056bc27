#include "server/operation.h"

#include <utility>

#include "absl/time/clock.h"
#include "core/base/device_loss.h"
#include "server/fault.h"
#include "server/lookup_operation.h"
#include "server/write_operation.h"

namespace gatherd {
namespace {

absl::Status DeadlinePassed() {
  return absl::DeadlineExceededError("the deadline passed before the answer");
}

}  // namespace

void Operation::Start(const grpc::ByteBuffer& request, grpc::ByteBuffer* reply,
                      absl::Time deadline, Done done) {
  reply_ = reply;
  deadline_ = deadline;
  done_ = std::move(done);
  const absl::Time start = absl::Now();
  absl::Status status = CheckWanted();
  if (status.ok()) {
    status = CatchExceptions([&] { return Prepare(request, deadline); });
    context_.metrics.requests().StageDone(Stage::kDecode, absl::Now() - start);
  }
  if (status.ok()) {
    Submit();
  } else {
    Finish(std::move(status));
  }
}

void Operation::OnJobDone(absl::Status status) {
  if (status.ok()) status = CheckWanted();
  if (status.ok()) {
    status = CatchExceptions([&] { return Encode(reply_); });
    CountStages();
  }
  Finish(std::move(status));
}

absl::Status Operation::CheckWanted() {
  if (cancelled().load(std::memory_order_relaxed)) {
    return absl::CancelledError("the caller cancelled the request");
  }
  if (absl::Now() > deadline_) {
    return DeadlinePassed();
  }
  return absl::OkStatus();
}

void Operation::CountKeys(uint64_t num_keys) {
  context_.metrics.requests().RequestKeys(method_, num_keys);
}

absl::StatusOr<AdmissionTicket> Operation::AdmitBytes(
    uint64_t bytes, const CatalogEntry* entry) {
  auto ticket = context_.admission.Admit(
      bytes, entry == nullptr ? std::string_view() : entry->spec().name);
  if (!ticket.ok()) {
    context_.metrics.requests().Rejected(Rejection::kOverload);
  }
  return ticket;
}

void Operation::CountStages() {
  const StageTimes& stages = times();
  RequestMetrics& metrics = context_.metrics.requests();
  metrics.StageDone(Stage::kQueue, stages.started - stages.submitted);
  metrics.StageDone(Stage::kDevice, stages.finished - stages.started);
  metrics.StageDone(Stage::kEncode, absl::Now() - stages.finished);
}

void Operation::Finish(absl::Status status) {
  // gRPC cancels a call whose deadline passes.
  if (absl::IsCancelled(status) && absl::Now() > deadline_) {
    status = DeadlinePassed();
  }
  if (absl::IsDeadlineExceeded(status)) {
    context_.metrics.requests().Rejected(Rejection::kDeadline);
  }
  if (IsDeviceLoss(status)) context_.on_device_loss(status);
  status = ReportIfFault(RpcMethodName(method_), std::move(status));
  const Done done = std::move(done_);  // may destroy this
  done(std::move(status));
}

std::unique_ptr<Operation> CreateOperation(const ServingContext& context,
                                           RpcMethod method) {
  switch (method) {
    case RpcMethod::kUpdate:
    case RpcMethod::kUpdateStream:
      return CreateUpdateOperation(context, method);
    case RpcMethod::kErase:
      return CreateEraseOperation(context, method);
    default:
      return CreateLookupOperation(context, method);
  }
}

}  // namespace gatherd
