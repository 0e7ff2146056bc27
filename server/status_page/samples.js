// What the charts show at one moment, from two documents of status.json. A
// value is null where there is nothing to say.

// The share q of what was observed between two counts of a histogram does not
// exceed this.
function quantile(bounds, counts, earlier, q) {
  const added = counts.map((count, i) => count - earlier[i]);
  const total = added.reduce((sum, count) => sum + count, 0);
  if (total === 0) return null;
  let below = 0;
  for (let i = 0; i < bounds.length; ++i) {
    if (added[i] > 0 && below + added[i] >= q * total) {
      const lower = i === 0 ? 0 : bounds[i - 1];
      const share = (q * total - below) / added[i];
      return lower + (bounds[i] - lower) * share;
    }
    below += added[i];
  }
  return bounds[bounds.length - 1];
}

function sum(rows, ...fields) {
  let total = 0;
  for (const row of rows) for (const field of fields) total += row[field];
  return total;
}

function sampleOf(before, after) {
  const seconds = after.uptime_seconds - before.uptime_seconds;
  const rate = (array, ...fields) =>
    (sum(after[array], ...fields) - sum(before[array], ...fields)) / seconds;
  const latency = (q) =>
    quantile(after.lookup_seconds.bounds, after.lookup_seconds.counts,
      before.lookup_seconds.counts, q);
  const sample = {
    at: after.uptime_seconds,
    found: rate('tables', 'found'),
    missing: rate('tables', 'missing'),
    written: rate('tables', 'updated', 'inserted'),
    erased: rate('tables', 'erased'),
    requests: rate('methods', 'requests'),
    failed: rate('methods', 'failed'),
    refused: rate('refusals', 'total'),
    p50: latency(0.5),
    p99: latency(0.99),
    inflight: after.inflight_requests,
    queue: after.queue_requests,
    bytes: after.inflight_bytes,
  };
  after.stages.forEach((stage, i) => {
    const count = stage.count - before.stages[i].count;
    sample[`${stage.name}Stage`] =
      count === 0 ? null : (stage.seconds - before.stages[i].seconds) / count;
  });
  return sample;
}
