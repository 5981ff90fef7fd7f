import { MaskBudget } from './find-all.ts'
import { findCardNumbers } from './find-card-numbers.ts'
import { findCookieValues } from './find-cookie-values.ts'
import { findKeys } from './find-keys.ts'
import { findNamedSecrets } from './find-named-secrets.ts'
import type { HiddenRange } from './hidden-range.ts'
import { readPlainly } from './plain-reading.ts'

const HIDDEN = '***'

/** Masks secrets in texts that are shown or logged. Callers bound the length of the text, and the time is linear in it. */
export const maskSecrets = (text: string): string => maskWithin('', text, '')

/**
 * The same for a part of a longer text. The text before and after it is considered but not shown: an excerpt may begin or end
 * within a secret.
 */
export function maskWithin(before: string, part: string, after: string): string {
  const text = before + part + after
  const end = before.length + part.length
  let shown = ''
  let at = before.length
  for (const range of hiddenRanges(text)) {
    if (range.end <= at || range.start >= end) continue
    shown += text.slice(at, Math.max(at, range.start)) + HIDDEN
    at = Math.min(end, range.end)
  }
  return shown + text.slice(at, end)
}

function findSecrets(text: string): HiddenRange[] {
  const budget = new MaskBudget()
  const ranges = [
    ...findKeys(text, budget),
    ...findNamedSecrets(text, budget),
    ...findCookieValues(text),
    ...findCardNumbers(text),
  ]
  if (budget.spent_at !== null) ranges.push({ start: budget.spent_at, end: text.length })
  return ranges
}

/** The secrets in the text as it is written, and as it reads once escapes, entities and tags are resolved. */
function findInReadings(text: string): HiddenRange[] {
  const plain = readPlainly(text)
  if (plain === null) return findSecrets(text)
  const read = findSecrets(plain.text).map(({ start, end }) => ({
    start: plain.starts[start] ?? text.length,
    end: plain.ends[end - 1] ?? text.length,
  }))
  return [...findSecrets(text), ...read]
}

/** In order, without overlaps. */
function hiddenRanges(text: string): HiddenRange[] {
  const all = findInReadings(text)
  const merged: HiddenRange[] = []
  for (const range of all.sort((a, b) => a.start - b.start)) {
    const last = merged.at(-1)
    if (last === undefined || range.start > last.end) merged.push(range)
    else merged[merged.length - 1] = { start: last.start, end: Math.max(last.end, range.end) }
  }
  return merged
}
