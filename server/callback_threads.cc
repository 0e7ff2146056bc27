#include "server/callback_threads.h"

#include <grpcpp/create_channel.h>

namespace gatherd {

// Without credentials a channel refuses every call by itself.
CallbackThreads::CallbackThreads()
    : stub_(grpc::CreateChannel("none", nullptr)) {
  const grpc::Slice nothing;
  request_ = grpc::ByteBuffer(&nothing, 1);
}

CallbackThreads::~CallbackThreads() {
  absl::MutexLock lock(&mutex_);
  const auto has_ended = [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    return !is_under_way_;
  };
  mutex_.Await(absl::Condition(&has_ended));
}

void CallbackThreads::KeepAwake() {
  {
    absl::MutexLock lock(&mutex_);
    if (is_under_way_) return;
    is_under_way_ = true;
  }
  call_.emplace();
  stub_.UnaryCall(&*call_, "/none/None", grpc::StubOptions(), &request_,
                  &reply_, [this](const grpc::Status&) {
                    absl::MutexLock lock(&mutex_);
                    is_under_way_ = false;
                  });
}

}  // namespace gatherd
