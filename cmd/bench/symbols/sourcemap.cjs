// Reads a source map and looks positions up, with @jridgewell/trace-mapping, and prints the
// best times of several rounds: of a parse in milliseconds, of a lookup in nanoseconds.
const { TraceMap, originalPositionFor, decodedMappings } = require('@jridgewell/trace-mapping');
const [file, queriesFile, rounds] = process.argv.slice(2);
const text = require('fs').readFileSync(file, 'utf8');
const queries = JSON.parse(require('fs').readFileSync(queriesFile, 'utf8'));
const time = (work) => {
  let best = Infinity;
  for (let i = 0; i < Number(rounds); i++) {
    const start = process.hrtime.bigint();
    work();
    best = Math.min(best, Number(process.hrtime.bigint() - start));
  }
  return best;
};
let map;
const parse = time(() => {
  map = new TraceMap(text);
  decodedMappings(map);
});
let found = 0;
const lookup = time(() => {
  found = 0;
  for (const [line, column] of queries) {
    if (originalPositionFor(map, { line, column: column - 1 }).source !== null) found++;
  }
});
process.stdout.write(JSON.stringify({ parse: parse / 1e6, lookup: lookup / queries.length, found }));
