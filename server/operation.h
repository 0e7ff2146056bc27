// One request on its way from bytes to bytes: decoded, admitted, carried out
// by the dispatcher, encoded. Unary calls have one, streams one a message.
//
// Started once. `done` runs once, on any thread, possibly before Start returns;
// it may destroy the operation, which nobody touches afterwards.
#ifndef GATHERD_SERVER_OPERATION_H_
#define GATHERD_SERVER_OPERATION_H_

#include <atomic>
#include <functional>
#include <memory>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "core/exec/dispatcher.h"
#include "server/metrics/rpc_metrics.h"
#include "server/serving_context.h"

namespace grpc {
class ByteBuffer;
}

namespace gatherd {

class Operation {
 public:
  using Done = std::function<void(absl::Status)>;

  virtual ~Operation() = default;
  Operation(const Operation&) = delete;
  Operation& operator=(const Operation&) = delete;

  // The buffers live until `done`, `reply` is filled if it gets OK. Nothing is
  // launched for a request that is wrong, cancelled or late.
  void Start(const grpc::ByteBuffer& request, grpc::ByteBuffer* reply,
             absl::Time deadline, Done done);

  // From any thread, at any time.
  void Cancel() { cancelled().store(true, std::memory_order_relaxed); }

 protected:
  Operation(const ServingContext& context, RpcMethod method)
      : context_(context), method_(method) {}

  const ServingContext& context() const { return context_; }
  RpcMethod method() const { return method_; }

  // What the kinds of operation differ in. Prepare and Encode may throw what
  // libraries throw.

  // Decodes and admits the request, and fills the job.
  virtual absl::Status Prepare(const grpc::ByteBuffer& request,
                               absl::Time deadline) = 0;
  // Hands the job over; its `done` is OnJobDone.
  virtual void Submit() = 0;
  // After the job's OK.
  virtual absl::Status Encode(grpc::ByteBuffer* reply) = 0;

  virtual std::atomic<bool>& cancelled() = 0;  // the job's
  virtual const StageTimes& times() const = 0;

  void OnJobDone(absl::Status status);

  // What Prepare does for every kind: this, then Admit. `Decoded` is the
  // codec's class of the kind.
  template <typename Decoded>
  absl::StatusOr<std::unique_ptr<Decoded>> Decode(
      const grpc::ByteBuffer& request) {
    auto decoded = Decoded::Decode(request, context_.catalog, context_.limits,
                                   context_.reply_memory);
    // Of all that the codec answers this is a reply over the limit.
    if (absl::IsResourceExhausted(decoded.status())) {
      context_.metrics.requests().Rejected(Rejection::kTooLarge);
    }
    return decoded;
  }

  template <typename Decoded>
  absl::StatusOr<AdmissionTicket> Admit(const Decoded& decoded,
                                        uint64_t request_bytes) {
    CountKeys(decoded.num_keys());
    return AdmitBytes(
        request_bytes + decoded.reply_bytes(),
        decoded.entries().empty() ? nullptr : decoded.entries().front());
  }

 private:
  absl::Status CheckWanted();
  void CountKeys(uint64_t num_keys);
  absl::StatusOr<AdmissionTicket> AdmitBytes(uint64_t bytes,
                                             const CatalogEntry* entry);
  void CountStages();
  void Finish(absl::Status status);

  const ServingContext& context_;
  const RpcMethod method_;
  grpc::ByteBuffer* reply_ = nullptr;
  absl::Time deadline_ = absl::InfiniteFuture();
  Done done_;
};

// `method` is Lookup or LookupStream, Update or UpdateStream, Erase.
std::unique_ptr<Operation> CreateOperation(const ServingContext& context,
                                           RpcMethod method);

}  // namespace gatherd

#endif  // GATHERD_SERVER_OPERATION_H_
