// Messages as the bytes that a client would send, and back.
#ifndef GATHERD_TESTS_SERVER_WIRE_H_
#define GATHERD_TESTS_SERVER_WIRE_H_

#include <google/protobuf/message_lite.h>
#include <grpcpp/support/byte_buffer.h>

#include <string>
#include <vector>

namespace gatherd {

inline grpc::ByteBuffer ToBytes(const std::string& bytes) {
  const grpc::Slice slice(bytes);
  return grpc::ByteBuffer(&slice, 1);
}

inline grpc::ByteBuffer ToBytes(const google::protobuf::MessageLite& message) {
  return ToBytes(message.SerializeAsString());
}

inline std::string ToString(const grpc::ByteBuffer& bytes) {
  std::vector<grpc::Slice> slices;
  (void)bytes.Dump(&slices);
  std::string text;
  for (const grpc::Slice& slice : slices) {
    text.append(reinterpret_cast<const char*>(slice.begin()), slice.size());
  }
  return text;
}

template <typename Message>
Message FromBytes(const grpc::ByteBuffer& bytes) {
  Message message;
  if (!message.ParseFromString(ToString(bytes))) message.Clear();
  return message;
}

}  // namespace gatherd

#endif  // GATHERD_TESTS_SERVER_WIRE_H_
