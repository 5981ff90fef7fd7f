import { QUOTE } from '../../request/json-lexis.ts'
import { walkJson } from '../../request/walk-json.ts'
import type { TextScanner } from '../text/text-scanner.ts'
import type { SplitValues } from './split-values.ts'

/**
 * Scans every string of a JSON text, keys and values, at any depth and in any number; several documents may follow one another
 * (NDJSON).
 * @returns whether the text was JSON up to its end, or up to where the scanner stopped; if not, the rest was not scanned
 */
export const scanJsonStrings = (
  scanner: TextScanner,
  source: Buffer,
  split: SplitValues,
): boolean => {
  const end = source.length
  let isFull = false
  const onString = (start: number, isKey: boolean): number => {
    const close = scanner.piece(start + 1, end, true)
    if (close >= end || source[close] !== QUOTE) return -1
    split.note(source, start + 1, close, isKey)
    isFull = scanner.isFull
    return isFull ? -1 : close + 1
  }
  return walkJson(source, 0, end, 'lenient', { onString }) >= 0 || isFull
}
