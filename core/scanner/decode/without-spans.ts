import type { WindowView } from '../text/text-scanner.ts'
import type { DerivedText } from './derived-text.ts'

/**
 * The window from `start` to `end` without some parts.
 * @param spans ascending positions in the window: start and end of each part
 * @returns also where a part was taken out
 */
export const withoutSpans = (
  view: WindowView,
  spans: readonly number[],
  start: number,
  end: number,
): Required<Pick<DerivedText, 'text' | 'offsets' | 'changed'>> => {
  const text = Buffer.allocUnsafe(end - start)
  const offsets = new Int32Array(end - start)
  const changed: number[] = []
  let n = 0
  let from = start
  const copy = (to: number): void => {
    for (let i = from; i < to; i += 1) {
      text[n] = view.text[i] as number
      offsets[n] = view.offsets[i] as number
      n += 1
    }
  }
  for (let s = 0; s < spans.length; s += 2) {
    const at = spans[s] as number
    if (at < from) continue
    if (at >= end) break
    copy(at)
    if (changed.at(-1) !== n) changed.push(n)
    from = spans[s + 1] as number
  }
  copy(end)
  return { text: text.subarray(0, n), offsets: offsets.subarray(0, n), changed }
}
