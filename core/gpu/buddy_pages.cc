#include "core/gpu/buddy_pages.h"

namespace gatherd {
namespace {

constexpr uint32_t Log2(uint32_t power) { return __builtin_ctz(power); }

// Of 3 * 2^k: 2^k. Of a power of two: 0.
constexpr uint32_t Third(uint32_t num_pages) {
  const uint32_t low_bit = num_pages & -num_pages;
  return num_pages == low_bit ? 0 : low_bit;
}

}  // namespace

// Largest blocks first: each starts where it may, since those before it are
// larger.
BuddyPages::BuddyPages(uint32_t num_pages) : pages_(num_pages) {
  heads_.fill(kNone);
  uint32_t first = 0;
  for (int order = 31; order >= 0; --order) {
    if ((num_pages >> order & 1) == 0) continue;
    Link(first, order);
    first += uint32_t{1} << order;
  }
}

std::optional<uint32_t> BuddyPages::Take(uint32_t num_pages) {
  const uint32_t third = Third(num_pages);
  if (third == 0) return TakeBlock(Log2(num_pages));
  const auto first = TakeBlock(Log2(third) + 2);
  if (first.has_value()) GiveBackBlock(*first + num_pages, Log2(third));
  return first;
}

void BuddyPages::GiveBack(uint32_t first, uint32_t num_pages) {
  const uint32_t third = Third(num_pages);
  if (third == 0) return GiveBackBlock(first, Log2(num_pages));
  GiveBackBlock(first, Log2(third) + 1);
  GiveBackBlock(first + 2 * third, Log2(third));
}

std::optional<uint32_t> BuddyPages::TakeBlock(uint32_t order) {
  if (order >= heads_.size()) return std::nullopt;
  const uint32_t large_enough = nonempty_orders_ >> order << order;
  if (large_enough == 0) return std::nullopt;
  uint32_t found = Log2(large_enough & -large_enough);
  const uint32_t first = heads_[found];
  Unlink(first);
  while (found > order) {
    --found;
    Link(first + (uint32_t{1} << found), found);
  }
  return first;
}

void BuddyPages::GiveBackBlock(uint32_t first, uint32_t order) {
  while (order + 1 < heads_.size()) {
    const uint32_t buddy = first ^ (uint32_t{1} << order);
    if (buddy >= pages_.size() || pages_[buddy].order != order) break;
    Unlink(buddy);
    first &= ~(uint32_t{1} << order);
    ++order;
  }
  Link(first, order);
}

void BuddyPages::Link(uint32_t first, uint32_t order) {
  Page& page = pages_[first];
  page.order = static_cast<uint8_t>(order);
  page.previous = kNone;
  page.next = heads_[order];
  if (page.next != kNone) pages_[page.next].previous = first;
  heads_[order] = first;
  nonempty_orders_ |= uint32_t{1} << order;
  num_free_ += uint32_t{1} << order;
}

void BuddyPages::Unlink(uint32_t first) {
  Page& page = pages_[first];
  const uint32_t order = page.order;
  if (page.next != kNone) pages_[page.next].previous = page.previous;
  if (page.previous != kNone) {
    pages_[page.previous].next = page.next;
  } else {
    heads_[order] = page.next;
    if (page.next == kNone) nonempty_orders_ &= ~(uint32_t{1} << order);
  }
  page.order = kNotFree;
  num_free_ -= uint32_t{1} << order;
}

}  // namespace gatherd
