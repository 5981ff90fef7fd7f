/** The entries of a block with their positions: the last one has the position of the block. */
export function placeTexts<T>(
  place: string,
  texts: readonly T[],
): readonly { readonly place: string; readonly text: T }[] {
  const dash = place.indexOf('-')
  const ms = place.slice(0, dash)
  const first = Number(place.slice(dash + 1)) - texts.length + 1
  return texts.map((text, i) => ({ place: `${ms}-${first + i}`, text }))
}
