/** The items in their order, so many at a time. */
export function* chunksOf<T>(items: readonly T[], length: number): Generator<readonly T[]> {
  for (let from = 0; from < items.length; from += length) yield items.slice(from, from + length)
}
