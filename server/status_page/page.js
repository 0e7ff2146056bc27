// Asks for status.json again and again and shows it: cells name the value that
// they show (data-at, a JSON pointer) and how it is written (data-as); parts
// name the value that they are there for (data-if), or the other way round.

// Numbers that change less often, for those who want less motion.
const CALM = window.matchMedia('(prefers-reduced-motion: reduce)').matches;
const POLL_MS = CALM ? 10000 : 2000;
const TIMEOUT_MS = 4000;
const RATE_SECONDS = 60;

const page = {
  charts: CHARTS.map((chart) => new Chart(chart)),
  samples: [],
  documents: [],  // of the last RATE_SECONDS
  timer: null,
  asking: false,
  paused: false,
  answered: null,  // when, on the clock of performance.now()
};

const stateText = document.getElementById('state');
const pauseButton = document.getElementById('pause');

function at(status, pointer) {
  return pointer.slice(1).split('/').reduce(
    (value, key) => (value === undefined ? undefined : value[key]), status);
}

function showShards(cell, shards) {
  const most = Math.max(1, ...shards.map((shard) => shard.rows));
  const bars = shards.map((shard) => {
    const text = `GPU ${shard.device}: ${countText(shard.rows)}`;
    const meter = element('meter');
    meter.max = most;
    meter.value = shard.rows;
    meter.setAttribute('aria-label', text);
    const bar = element('span', '', 'shard');
    bar.append(meter, ` ${text}`);
    return bar;
  });
  cell.replaceChildren(...(bars.length === 0 ? [NONE] : bars));
}

function rateOf(pointer) {
  const first = page.documents[0];
  const last = page.documents[page.documents.length - 1];
  if (first === last) return null;
  return (at(last, pointer) - at(first, pointer)) /
    (last.uptime_seconds - first.uptime_seconds);
}

function show(status) {
  for (const cell of document.querySelectorAll('[data-at]')) {
    const {at: pointer, as: format} = cell.dataset;
    const value =
      format === 'rate' ? rateOf(pointer) : at(status, pointer);
    if (format === 'shards') {
      showShards(cell, value);
      continue;
    }
    const text = formatted(value, format);
    if (cell.textContent !== text) cell.textContent = text;
  }
  for (const part of document.querySelectorAll('[data-if]')) {
    part.hidden = at(status, part.dataset.if) === undefined;
  }
  for (const part of document.querySelectorAll('[data-unless]')) {
    part.hidden = at(status, part.dataset.unless) !== undefined;
  }
  document.title = `gatherd: ${status.phase}`;
}

function setState(text, stale = false) {
  document.body.classList.toggle('stale', stale);
  // Screen readers say it when it changes, so it says no running numbers.
  if (stateText.textContent !== text) stateText.textContent = text;
}

function accept(status) {
  const before = page.documents[page.documents.length - 1];
  page.documents.push(status);
  const oldest = status.uptime_seconds - RATE_SECONDS;
  page.documents =
    page.documents.filter((kept) => kept.uptime_seconds >= oldest);
  if (before !== undefined) {
    const gap = status.uptime_seconds - before.uptime_seconds;
    if (gap > 3 * POLL_MS / 1000) page.samples.push(null);
    page.samples.push(sampleOf(before, status));
    const start = status.uptime_seconds - WINDOW_SECONDS;
    page.samples = page.samples.filter(
      (sample) => sample === null || sample.at >= start);
    while (page.samples[0] === null) page.samples.shift();
    for (const chart of page.charts) chart.draw(page.samples);
  }
  show(status);
}

async function ask() {
  const reply = await fetch('status.json', {
    cache: 'no-store', signal: AbortSignal.timeout(TIMEOUT_MS)});
  if (!reply.ok) throw new Error(`HTTP ${reply.status}`);
  return reply.json();
}

async function poll() {
  if (page.asking) return;
  page.asking = true;
  try {
    const status = await ask();
    if (String(status.start_time_us) !== document.body.dataset.start) {
      // Another process: its tables may be others than those of this page.
      stop();
      setState('stale: the server has restarted, load this page again', true);
      pauseButton.hidden = true;
      return;
    }
    page.answered = performance.now();
    accept(status);
    if (!page.paused) setState('live');
  } catch (error) {
    const since = new Date(Date.now() - performance.now() + page.answered);
    setState('stale: no answer from the server since ' +
      since.toLocaleTimeString(), true);
  } finally {
    page.asking = false;
  }
}

function stop() {
  clearInterval(page.timer);
  page.timer = null;
}

function start() {
  if (page.timer !== null) return;
  page.timer = setInterval(poll, POLL_MS);
  poll();
}

function pauseOrResume() {
  page.paused = !page.paused;
  pauseButton.textContent = page.paused ? 'Resume' : 'Pause';
  if (page.paused) {
    stop();
    setState('paused');
  } else {
    start();
  }
}

// A page that nobody sees asks for nothing.
function followVisibility() {
  if (document.hidden) {
    stop();
  } else if (!page.paused) {
    start();
  }
}

document.getElementById('charts').append(
  ...page.charts.map((chart) => chart.figure));
document.querySelector('.live').hidden = false;
page.answered = performance.now();
pauseButton.addEventListener('click', pauseOrResume);
document.addEventListener('visibilitychange', followVisibility);
followVisibility();
