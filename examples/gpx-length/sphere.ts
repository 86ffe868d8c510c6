// Distances on a sphere of the Earth's mean radius. Good to half a percent, which a recorded track
// is not; never meant for surveying.

export interface Point {
  readonly lat: number;
  readonly lon: number;
  /** Metres above the sea. */
  readonly ele: number;
}

const RADIUS_M = 6_371_008.8;

const radians = (degrees: number): number => (degrees * Math.PI) / 180;

/** The great circle between two points, metres, by the haversine formula. */
export function distance(a: Point, b: Point): number {
  const [dLat, dLon] = [radians(b.lat - a.lat), radians(b.lon - a.lon)];
  const h =
    Math.sin(dLat / 2) ** 2 +
    Math.cos(radians(a.lat)) * Math.cos(radians(b.lat)) * Math.sin(dLon / 2) ** 2;
  return 2 * RADIUS_M * Math.asin(Math.sqrt(h));
}
