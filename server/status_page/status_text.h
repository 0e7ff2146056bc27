// Values of the status document as people read them. page.js of this folder
// writes them in the same way.
#ifndef GATHERD_SERVER_STATUS_PAGE_STATUS_TEXT_H_
#define GATHERD_SERVER_STATUS_PAGE_STATUS_TEXT_H_

#include <cstdint>
#include <string>

namespace gatherd {

std::string CountText(uint64_t count);       // 1,234,567
std::string BytesText(uint64_t bytes);       // 12 B, 1.5 KiB, 3.0 GiB
std::string PercentText(double share);       // 0.987: 98.7 %
std::string DurationText(double seconds);    // 12.3 µs, 4.56 ms, 1.20 s
std::string UptimeText(uint64_t seconds);    // 12 s, 3 min 4 s, 2 d 5 h
std::string TimeText(int64_t unix_us);       // 2026-11-30 10:35:34 UTC
std::string HtmlText(const std::string& s);  // &, <, > and quotes escaped

}  // namespace gatherd

#endif  // GATHERD_SERVER_STATUS_PAGE_STATUS_TEXT_H_
