// Line charts as SVG: a figure each, whose legend has the newest values and
// whose image is described by text.

const WINDOW_SECONDS = 300;
const WIDTH = 300;
const HEIGHT = 100;

const CHARTS = [
  {title: 'Keys looked up', format: 'rate',
    series: {found: 'found', missing: 'missing'}},
  {title: 'Keys written', format: 'rate',
    series: {written: 'updated or inserted', erased: 'erased'}},
  {title: 'Requests', format: 'rate',
    series: {requests: 'read', failed: 'failed calls', refused: 'refused'}},
  {title: 'Lookup latency', format: 'duration',
    series: {p50: 'p50', p99: 'p99'}},
  {title: 'Stages, mean', format: 'duration',
    series: {decodeStage: 'decode', queueStage: 'queue',
      deviceStage: 'device', encodeStage: 'encode'}},
  {title: 'Requests in flight', format: 'count',
    series: {inflight: 'in flight', queue: 'waiting'}},
  {title: 'Bytes in flight', format: 'bytes', series: {bytes: 'in flight'}},
];

function svgElement(name, attributes) {
  const element =
    document.createElementNS('http://www.w3.org/2000/svg', name);
  for (const [key, value] of Object.entries(attributes)) {
    element.setAttribute(key, value);
  }
  return element;
}

function element(name, text = '', className = '') {
  const made = document.createElement(name);
  made.textContent = text;
  if (className) made.className = className;
  return made;
}

class Chart {
  constructor({title, format, series}) {
    Object.assign(this, {title, format, series});
    this.figure = element('figure');
    this.figure.id = `chart-${Object.keys(series)[0]}`;
    this.top = element('span', '', 'top');
    const caption = element('figcaption', title);
    caption.append(' ', this.top);
    this.svg = svgElement('svg', {
      viewBox: `0 0 ${WIDTH} ${HEIGHT}`, preserveAspectRatio: 'none',
      role: 'img', 'aria-label': `${title}: nothing yet`});
    this.lines = {};
    this.values = {};
    const legend = element('ul');
    Object.entries(series).forEach(([key, label], i) => {
      this.lines[key] = svgElement('path', {class: `series-${i}`});
      this.svg.append(this.lines[key]);
      this.values[key] = element('b', NONE);
      const sign = svgElement('svg', {
        viewBox: '0 0 24 8', 'aria-hidden': 'true'});
      sign.append(svgElement('path', {class: `series-${i}`, d: 'M0 4H24'}));
      const item = element('li');
      item.append(sign, `${label} `, this.values[key]);
      legend.append(item);
    });
    this.figure.append(caption, this.svg, legend);
  }

  // `samples`: by time; one that is null breaks the lines.
  draw(samples) {
    const last = samples[samples.length - 1];
    const real = samples.filter((sample) => sample !== null);
    const known = (key) =>
      real.map((sample) => sample[key]).filter((value) => value !== null);
    const keys = Object.keys(this.series);
    const most = Math.max(0, ...keys.flatMap(known));
    this.top.textContent = `up to ${formatted(most, this.format)}`;
    const end = real[real.length - 1].at;
    const words = [];
    for (const key of keys) {
      this.lines[key].setAttribute('d', pathOf(samples, key, end, most));
      const now = formatted(last && last[key], this.format);
      this.values[key].textContent = now;
      const all = known(key);
      words.push(all.length === 0 ? `${this.series[key]} ${NONE}` :
        `${this.series[key]} now ${now}, between ` +
        `${formatted(Math.min(...all), this.format)} and ` +
        `${formatted(Math.max(...all), this.format)}`);
    }
    this.svg.setAttribute('aria-label',
      `${this.title}, last five minutes: ${words.join('; ')}`);
  }
}

function pathOf(samples, key, end, most) {
  let path = '';
  let pen = 'M';
  for (const sample of samples) {
    if (sample === null || sample[key] === null) {
      pen = 'M';
      continue;
    }
    const x = WIDTH * (1 - (end - sample.at) / WINDOW_SECONDS);
    const y = most === 0 ? HEIGHT : HEIGHT * (1 - 0.95 * sample[key] / most);
    path += `${pen}${x.toFixed(1)} ${y.toFixed(1)}`;
    pen = 'L';
  }
  return path;
}
