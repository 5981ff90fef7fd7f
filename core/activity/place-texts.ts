import type { PlacedText } from './log-row.ts'

/** The entries of a block with their positions: the last one has the position of the block. */
export function placeTexts(place: string, texts: readonly string[]): readonly PlacedText[] {
  const dash = place.indexOf('-')
  const ms = place.slice(0, dash)
  const first = Number(place.slice(dash + 1)) - texts.length + 1
  return texts.map((text, i) => ({ place: `${ms}-${first + i}`, text }))
}
