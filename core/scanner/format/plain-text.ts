/** A text as its reader sees it, and a mapping to the offsets of the source. */
export type PlainText = { readonly text: Buffer; readonly sourceOffset: (offset: number) => number }

/** @param seams pairs: an offset in the text behind an escape, and the offset in the source there, ascending */
export const offsetsBehind =
  (seams: readonly number[]): PlainText['sourceOffset'] =>
  (offset) => {
    let low = 0
    let high = seams.length / 2
    while (low < high) {
      const middle = (low + high) >> 1
      if ((seams[middle * 2] as number) <= offset) low = middle + 1
      else high = middle
    }
    return low === 0
      ? offset
      : (seams[low * 2 - 1] as number) + offset - (seams[low * 2 - 2] as number)
  }
