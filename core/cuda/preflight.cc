#include "core/cuda/preflight.h"

#include <algorithm>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "core/base/device_index.h"
#include "core/cuda/cuda_status.h"
#include "core/cuda/pinned_buffer.h"
#include "core/cuda/stream.h"

namespace gatherd {
namespace {

constexpr uint64_t kPatternBytes = uint64_t{2} << 20;
constexpr uint64_t kPatternWords = kPatternBytes / sizeof(uint32_t);

std::string Name(DeviceId device) {
  return absl::StrCat("device ", Ordinal(device));
}

// Runs the kernels of one device, one at a time.
class PatternStream {
 public:
  static absl::StatusOr<PatternStream> Create(const CudaApi& api,
                                              const PatternKernels& kernels,
                                              DeviceId device) {
    absl::StatusOr<CudaStream> stream =
        CudaStream::Create(api, device, StreamPriority::kLow);
    if (!stream.ok()) return stream.status();
    absl::StatusOr<PinnedBuffer> count =
        PinnedBuffer::Create(api, device, sizeof(uint32_t));
    if (!count.ok()) return count.status();
    return PatternStream(api, kernels, *std::move(stream), *std::move(count));
  }

  DeviceId device() const { return stream_.view().device(); }

  absl::Status Fill(uint32_t* words, uint32_t seed) {
    absl::StatusOr<ScopedDevice> scope = ScopedDevice::Enter(*api_, device());
    if (!scope.ok()) return scope.status();
    const absl::Status status = CudaStatus(
        *api_,
        kernels_.fill(words, kPatternWords, seed, stream_.view().handle()),
        {"the kernel that writes a pattern", device(), kPatternBytes});
    if (!status.ok()) return status;
    return stream_.view().Synchronize();
  }

  absl::StatusOr<uint32_t> CountWrong(const uint32_t* words, uint32_t seed) {
    absl::StatusOr<ScopedDevice> scope = ScopedDevice::Enter(*api_, device());
    if (!scope.ok()) return scope.status();
    auto* count = reinterpret_cast<uint32_t*>(count_.data());
    absl::Status status = CudaStatus(
        *api_,
        kernels_.count_wrong(words, kPatternWords, seed, count,
                             stream_.view().handle()),
        {"the kernel that reads a pattern", device(), kPatternBytes});
    if (!status.ok()) return status;
    status = stream_.view().Synchronize();
    if (!status.ok()) return status;
    return *count;
  }

 private:
  PatternStream(const CudaApi& api, const PatternKernels& kernels,
                CudaStream stream, PinnedBuffer count)
      : api_(&api),
        kernels_(kernels),
        stream_(std::move(stream)),
        count_(std::move(count)) {}

  const CudaApi* api_;
  PatternKernels kernels_;
  CudaStream stream_;
  PinnedBuffer count_;
};

class Preflight {
 public:
  static absl::StatusOr<Preflight> Create(const CudaApi& api,
                                          const PatternKernels& kernels,
                                          absl::Span<const DeviceId> devices) {
    Preflight preflight(api);
    for (const DeviceId device : devices) {
      absl::StatusOr<PatternStream> stream =
          PatternStream::Create(api, kernels, device);
      if (!stream.ok()) return stream.status();
      preflight.streams_.push_back(*std::move(stream));
    }
    return preflight;
  }

  // That each device can use its own memory.
  absl::Status CheckDevices() {
    for (PatternStream& stream : streams_) {
      const DeviceId device = stream.device();
      absl::StatusOr<VmmBuffer> buffer = VmmBuffer::Create(
          *api_, {&device, 1}, kPatternBytes, VmmAccess::kOwnerOnly);
      if (!buffer.ok()) return buffer.status();
      const absl::Status status =
          WriteAndRead(stream, stream, WordsOf(*buffer, DeviceIndex{0}));
      if (!status.ok()) return status;
    }
    return absl::OkStatus();
  }

  absl::StatusOr<std::vector<PeerCheck>> CheckPeers() {
    std::vector<PeerCheck> checks;
    for (PatternStream& from : streams_) {
      for (PatternStream& to : streams_) {
        if (from.device() == to.device()) continue;
        absl::StatusOr<PeerCheck> check = AskDriver(from.device(), to.device());
        if (!check.ok()) return check.status();
        if (!check->can_access) {
          check->problem = "no peer access";
        } else {
          check->problem = std::string(TryPair(from, to).message());
        }
        checks.push_back(*std::move(check));
      }
    }
    return checks;
  }

 private:
  explicit Preflight(const CudaApi& api) : api_(&api) {}

  static uint32_t* WordsOf(const VmmBuffer& buffer, DeviceIndex device) {
    return reinterpret_cast<uint32_t*>(buffer.part(device));
  }

  absl::StatusOr<PeerCheck> AskDriver(DeviceId from, DeviceId to) const {
    int can_access = 0;
    absl::Status status = CudaStatus(
        *api_,
        api_->cudaDeviceCanAccessPeer(&can_access, Ordinal(from), Ordinal(to)),
        {"cudaDeviceCanAccessPeer", from});
    if (!status.ok()) return status;
    int native_atomics = 0;
    status =
        CudaStatus(*api_,
                   api_->cudaDeviceGetP2PAttribute(
                       &native_atomics, cudaDevP2PAttrNativeAtomicSupported,
                       Ordinal(from), Ordinal(to)),
                   {"cudaDeviceGetP2PAttribute", from});
    if (!status.ok()) return status;
    PeerCheck check;
    check.from = from;
    check.to = to;
    check.can_access = can_access != 0;
    check.native_atomics = native_atomics != 0;
    return check;
  }

  // In memory of `to`, both ways.
  absl::Status TryPair(PatternStream& from, PatternStream& to) {
    const DeviceId devices[] = {from.device(), to.device()};
    absl::StatusOr<VmmBuffer> buffer =
        VmmBuffer::Create(*api_, devices, kPatternBytes, VmmAccess::kShared);
    if (!buffer.ok()) return buffer.status();
    uint32_t* words = WordsOf(*buffer, DeviceIndex{1});
    const absl::Status status = WriteAndRead(from, to, words);
    if (!status.ok()) return status;
    return WriteAndRead(to, from, words);
  }

  absl::Status WriteAndRead(PatternStream& writer, PatternStream& reader,
                            uint32_t* words) {
    const uint32_t seed = ++last_seed_;
    const absl::Status status = writer.Fill(words, seed);
    if (!status.ok()) return status;
    const absl::StatusOr<uint32_t> wrong = reader.CountWrong(words, seed);
    if (!wrong.ok()) return wrong.status();
    if (*wrong == 0) return absl::OkStatus();
    return absl::InternalError(absl::StrCat(
        Name(writer.device()), " wrote ", kPatternWords, " words and ",
        Name(reader.device()), " read ", *wrong, " of them wrong"));
  }

  const CudaApi* api_;
  std::vector<PatternStream> streams_;  // one a device
  uint32_t last_seed_ = 0;              // no pattern is written twice
};

absl::StatusOr<std::vector<DeviceInfo>> InfoOf(
    const CudaApi& api, absl::Span<const DeviceId> devices) {
  const absl::StatusOr<std::vector<DeviceInfo>> all = ListDevices(api);
  if (!all.ok()) return all.status();
  std::vector<DeviceInfo> infos;
  for (const DeviceId device : devices) {
    const auto info =
        std::find_if(all->begin(), all->end(),
                     [device](const auto& i) { return i.id == device; });
    if (info == all->end()) {
      return absl::NotFoundError(
          absl::StrCat(Name(device), ": this machine has ", all->size(),
                       " GPUs, the first is 0"));
    }
    infos.push_back(*info);
  }
  return infos;
}

bool IsUsable(const PeerCheck& peer) { return peer.problem.empty(); }

}  // namespace

std::vector<std::string> PreflightReport::Lines() const {
  std::vector<std::string> lines;
  for (const DeviceInfo& device : devices) {
    lines.push_back(DescribeDevice(device));
  }
  for (const PeerCheck& peer : peers) {
    if (IsUsable(peer)) continue;
    lines.push_back(absl::StrCat(Name(peer.from), " cannot use the memory of ",
                                 Name(peer.to), ": ", peer.problem));
  }
  if (devices.size() < 2) return lines;
  const bool native_atomics =
      std::all_of(peers.begin(), peers.end(),
                  [](const PeerCheck& peer) { return peer.native_atomics; });
  lines.push_back(
      access == VmmAccess::kShared
          ? absl::StrCat("each of ", devices.size(),
                         " devices reads and writes the memory of all, ",
                         native_atomics ? "with" : "without",
                         " native atomics: rows are read wherever they are")
          : std::string("each device answers for its own rows"));
  return lines;
}

absl::StatusOr<PreflightReport> RunPreflight(
    const CudaApi& api, const PatternKernels& kernels,
    absl::Span<const DeviceId> devices) {
  absl::StatusOr<std::vector<DeviceInfo>> infos = InfoOf(api, devices);
  if (!infos.ok()) return infos.status();
  absl::StatusOr<Preflight> preflight =
      Preflight::Create(api, kernels, devices);
  if (!preflight.ok()) return preflight.status();
  absl::Status status = preflight->CheckDevices();
  if (!status.ok()) return status;
  absl::StatusOr<std::vector<PeerCheck>> peers = preflight->CheckPeers();
  if (!peers.ok()) return peers.status();
  PreflightReport report;
  report.devices = *std::move(infos);
  report.peers = *std::move(peers);
  if (std::all_of(report.peers.begin(), report.peers.end(), IsUsable)) {
    report.access = VmmAccess::kShared;
    return report;
  }
  // An error of a kernel stays with a device.
  status = preflight->CheckDevices();
  if (!status.ok()) return status;
  return report;
}

}  // namespace gatherd
