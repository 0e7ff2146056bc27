#include "client/bench/worker_process.h"

#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <new>
#include <string>
#include <utility>

namespace gatherd::client {
namespace {

// What a child answers to an order.
struct Answer {
  absl::StatusCode code = absl::StatusCode::kOk;
  std::array<char, 512> message = {};  // ends with a zero
};

// On a SOCK_SEQPACKET socket, which keeps messages whole.
template <typename Message>
bool SendMessage(int socket, const Message& message) {
  return send(socket, &message, sizeof message, MSG_NOSIGNAL) ==
         static_cast<ssize_t>(sizeof message);
}

// False at the end, too.
template <typename Message>
bool ReceiveMessage(int socket, Message& message) {
  ssize_t size = 0;
  do {
    size = recv(socket, &message, sizeof message, 0);
  } while (size < 0 && errno == EINTR);
  return size == static_cast<ssize_t>(sizeof message);
}

Answer AnswerOf(const absl::Status& status) {
  Answer answer;
  answer.code = status.code();
  const absl::string_view message = status.message();
  std::copy_n(message.data(),
              std::min(message.size(), answer.message.size() - 1),
              answer.message.begin());
  return answer;
}

[[noreturn]] void RunChild(int socket, const WorkerProcess::Work& work) {
  // Nobody is left to end a load whose parent was killed.
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  WorkerOrder order;
  while (ReceiveMessage(socket, order) &&
         SendMessage(socket, AnswerOf(work(order)))) {
  }
  _exit(0);  // what the parent has open is not the child's to flush
}

absl::Status Ended() {
  return absl::InternalError("a process of the load has ended");
}

}  // namespace

absl::StatusOr<std::unique_ptr<WorkerProcess>> WorkerProcess::Fork(Work work) {
  int sockets[2];
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sockets) != 0) {
    return absl::ErrnoToStatus(errno, "socketpair");
  }
  const pid_t pid = fork();
  if (pid == 0) {
    close(sockets[0]);
    RunChild(sockets[1], work);
  }
  close(sockets[1]);
  if (pid < 0) {
    const absl::Status status = absl::ErrnoToStatus(errno, "fork");
    close(sockets[0]);
    return status;
  }
  return std::unique_ptr<WorkerProcess>(new WorkerProcess(pid, sockets[0]));
}

// It has nothing that it would have to put away.
WorkerProcess::~WorkerProcess() {
  close(socket_);
  kill(pid_, SIGKILL);
  while (waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
  }
}

absl::Status WorkerProcess::Send(const WorkerOrder& order) {
  return SendMessage(socket_, order) ? absl::OkStatus() : Ended();
}

absl::Status WorkerProcess::Receive() {
  Answer answer;
  if (!ReceiveMessage(socket_, answer)) return Ended();
  return absl::Status(answer.code, answer.message.data());
}

absl::StatusOr<std::unique_ptr<SharedCounters>> SharedCounters::Map() {
  void* const memory =
      mmap(nullptr, sizeof(LoadCounters), PROT_READ | PROT_WRITE,
           MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return absl::ErrnoToStatus(errno, "mmap");
  return std::unique_ptr<SharedCounters>(new SharedCounters(memory));
}

SharedCounters::SharedCounters(void* memory)
    : counters_(new (memory) LoadCounters) {}

SharedCounters::~SharedCounters() { munmap(counters_, sizeof(LoadCounters)); }

void SharedCounters::Reset() { counters_ = new (counters_) LoadCounters; }

}  // namespace gatherd::client
