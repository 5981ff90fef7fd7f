import { ANOMALY_TYPES, type AnomalyType } from './anomaly-type.ts'

/** A signal that occurs by chance about once in ten days scores 1 − 2^(−1/DECADES_HALF) = 0.33. */
const DECADES_HALF = 1.73
/** Above the range that the estimated tails can express. */
const DECADES_MAX = 12
/** A signal is reported if it occurs by chance less often than every third day. */
const NAMED_FROM_DECADES = 0.5
const SCORE_MAX = 0.999

/**
 * One score from the mean number of days between signals as strong as these. The base-10 logarithms of the days are added,
 * which is the noisy-or of the scores of the single signals: one signal of a thousand days scores 0.7, and so do two of about a
 * month.
 */
export function combineSigns(return_days: Readonly<Record<AnomalyType, number>>): {
  readonly score: number
  readonly types: readonly AnomalyType[]
} {
  let sum = 0
  const named: { readonly type: AnomalyType; readonly decades: number }[] = []
  for (const type of ANOMALY_TYPES) {
    const days = return_days[type]
    if (days <= 1) continue
    const decades = Math.min(Math.log10(days), DECADES_MAX)
    sum += decades
    if (decades >= NAMED_FROM_DECADES) named.push({ type, decades })
  }
  const score = Math.min(1 - 2 ** (-sum / DECADES_HALF), SCORE_MAX)
  named.sort((a, b) => b.decades - a.decades)
  return { score: Math.round(score * 1000) / 1000, types: named.map(({ type }) => type) }
}
