/**
 * Entries are counted in buckets of three lengths: by the minute for charts of the last hours, and by the quarter of an hour and
 * by two hours for as long as the log holds them. A week is read in some eighty buckets.
 */
export const MINUTE_S = 60
export const QUARTER_S = 900
export const TWO_HOURS_S = 7_200
export const DAY_S = 86_400
/** Counts by the minute are kept a day and a bit, so that a chart of a day can have any step. */
export const MINUTES_KEPT_S = 25 * 3600

/**
 * A combination is an agent, an API, an event, a decision, a reason and a `via`. A store keeps a count in about 8 bytes, so a bucket
 * takes at most 4 kB. Beyond this number, entries are counted without agent and API.
 */
export const COMBINATIONS_PER_BUCKET = 400
/** The same for two hours. So large a bucket takes more for each count, but there are few of them. */
export const COMBINATIONS_PER_TWO_HOURS = 1_000
/** A name takes about 120 bytes. */
export const COMBINATIONS_PER_DAY = 5_000

export const combinationsMax = (bucket_s: number): number =>
  bucket_s === TWO_HOURS_S ? COMBINATIONS_PER_TWO_HOURS : COMBINATIONS_PER_BUCKET
