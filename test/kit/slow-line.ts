/** 400 kbit/s in both directions, and the round trip of a mobile line: for `Network.emulateNetworkConditions` of Chromium. */
export const SLOW_LINE = {
  offline: false,
  downloadThroughput: 50_000,
  uploadThroughput: 50_000,
  latency: 100,
}
