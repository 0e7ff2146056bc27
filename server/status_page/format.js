'use strict';

// Values of status.json as people read them, as status_text.cc writes them.

const NONE = '–';

function countText(count) {
  return Math.round(count).toLocaleString('en-US');
}

function bytesText(bytes) {
  if (bytes < 1024) return `${Math.round(bytes)} B`;
  const units = ['KiB', 'MiB', 'GiB', 'TiB'];
  let value = bytes / 1024;
  let unit = 0;
  for (; value >= 1024 && unit < 3; ++unit) value /= 1024;
  return `${value.toFixed(1)} ${units[unit]}`;
}

function durationText(seconds) {
  if (seconds < 1e-3) return `${(seconds * 1e6).toFixed(1)} µs`;
  if (seconds < 1) return `${(seconds * 1e3).toFixed(2)} ms`;
  return `${seconds.toFixed(2)} s`;
}

function uptimeText(seconds) {
  const whole = Math.floor(seconds);
  const minutes = Math.floor(whole / 60);
  const hours = Math.floor(minutes / 60);
  if (minutes === 0) return `${whole} s`;
  if (hours === 0) return `${minutes} min ${whole % 60} s`;
  if (hours < 24) return `${hours} h ${minutes % 60} min`;
  return `${Math.floor(hours / 24)} d ${hours % 24} h`;
}

// A rate of anything: three digits are enough.
function rateText(rate) {
  if (rate === 0 || rate >= 1e15) return `${rate}/s`;
  if (rate < 1) return `${rate.toFixed(2)}/s`;
  const units = ['', ' k', ' M', ' G', ' T'];
  let value = rate;
  let unit = 0;
  for (; value >= 999.5 && unit < 4; ++unit) value /= 1000;
  return `${Number(value.toPrecision(3))}${units[unit]}/s`;
}

function timeText(unixUs) {
  const iso = new Date(Math.floor(unixUs / 1000)).toISOString();
  return `${iso.slice(0, 10)} ${iso.slice(11, 19)} UTC`;
}

const FORMATS = {
  text: String,
  count: countText,
  bytes: bytesText,
  percent: (share) => `${(share * 100).toFixed(1)} %`,
  duration: durationText,
  uptime: uptimeText,
  rate: rateText,
  prose: String,
  time: timeText,
};

function formatted(value, format) {
  return value === null || value === undefined ? NONE : FORMATS[format](value);
}
