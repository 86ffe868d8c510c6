// Adds up the points of a GPX track. It reads points that are written on one line each, as most
// recorders do, and must fail rather than print the length of half a track.
//
//   tsx length.ts --in track.gpx --out length.json

import { readFileSync, writeFileSync } from "node:fs";
import { parseArgs } from "node:util";

import { distance, type Point } from "./sphere.ts";

enum Axis {
  Lat = "lat",
  Lon = "lon",
}

const POINT = /<trkpt lat="([-\d.]+)" lon="([-\d.]+)"><ele>([-\d.]+)<\/ele><\/trkpt>/g;

function points(gpx: string): Point[] {
  const found = [...gpx.matchAll(POINT)].map(
    ([, lat, lon, ele]): Point => ({ lat: Number(lat), lon: Number(lon), ele: Number(ele) }),
  );
  const written = gpx.split("<trkpt").length - 1;
  if (found.length !== written || written < 2) {
    throw new Error(`${found.length} of ${written} points were understood`);
  }
  return found;
}

function bounds(track: readonly Point[], axis: Axis): [number, number] {
  const values = track.map((point) => point[axis]);
  return [Math.min(...values), Math.max(...values)];
}

function main(): void {
  const { values } = parseArgs({ options: { in: { type: "string" }, out: { type: "string" } } });
  if (values.in === undefined || values.out === undefined) throw new Error("--in and --out");
  const track = points(readFileSync(values.in, "utf8"));
  const steps = track.slice(1).map((point, i) => [track[i], point] as const);
  const report = {
    points: track.length,
    length_m: Math.round(steps.reduce((sum, [from, to]) => sum + distance(from, to), 0)),
    climb_m: Math.round(steps.reduce((sum, [from, to]) => sum + Math.max(0, to.ele - from.ele), 0)),
    lat: bounds(track, Axis.Lat),
    lon: bounds(track, Axis.Lon),
  };
  writeFileSync(values.out, JSON.stringify(report, null, 2) + "\n");
  console.log(`${report.length_m} m, ${report.climb_m} m up`);
}

main();
