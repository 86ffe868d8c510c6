// Counts one day of a web server's log in the common log format. A line that is not in that format
// is counted as damaged and never guessed at.
//
//   node summary.js --in access.log --out summary.json
"use strict";

const fs = require("node:fs");
const { parseArgs } = require("node:util");

const LINE = /^(\S+) \S+ \S+ \[\d{2}\/\w{3}\/\d{4}:(\d{2}):\d{2}:\d{2} [+-]\d{4}\] "(\S+) (\S+) [^"]*" (\d{3}) (\d+|-)$/;

function parse(line) {
  const found = LINE.exec(line);
  if (found === null) return null;
  const [, host, hour, method, path, status, size] = found;
  return { host, hour, method, path, status: Number(status), bytes: size === "-" ? 0 : Number(size) };
}

function count(into, key, by = 1) {
  into.set(key, (into.get(key) ?? 0) + by);
}

/** Entries by falling count, equal ones by name, so that the same log gives the same bytes. */
function ranked(counts) {
  return [...counts].sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1));
}

function summary(text) {
  const [hours, paths, statuses, hosts] = [new Map(), new Map(), new Map(), new Set()];
  let [requests, bytes, damaged] = [0, 0, 0];
  for (const line of text.split("\n").slice(0, -1)) {
    const entry = parse(line);
    if (entry === null) {
      damaged += 1;
      continue;
    }
    requests += 1;
    bytes += entry.bytes;
    hosts.add(entry.host);
    count(hours, entry.hour);
    count(paths, entry.path);
    count(statuses, String(entry.status));
  }
  const failed = [...statuses].filter(([status]) => status >= "400").reduce((sum, it) => sum + it[1], 0);
  return {
    requests,
    damaged_lines: damaged,
    bytes,
    hosts: hosts.size,
    failed,
    by_status: Object.fromEntries([...statuses].sort()),
    by_hour: Object.fromEntries([...hours].sort()),
    paths: ranked(paths).map(([path, requests]) => ({ path, requests })),
  };
}

const { values } = parseArgs({ options: { in: { type: "string" }, out: { type: "string" } } });
const report = summary(fs.readFileSync(values.in, "utf8"));
fs.writeFileSync(values.out, JSON.stringify(report, null, 2) + "\n");
console.log(`${report.requests} requests, ${report.failed} failed, ${report.damaged_lines} damaged lines`);
