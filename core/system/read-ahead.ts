/**
 * What `read` makes of each item, in their order. At first one item is read at a time, so that a reader who soon leaves has
 * caused little; then up to `most` at the same time.
 */
export async function* readAhead<T, R>(
  items: readonly T[],
  most: number,
  read: (item: T) => Promise<R>,
): AsyncGenerator<{ readonly item: T; readonly result: R }> {
  const begun: Promise<R>[] = []
  let width = 1
  try {
    for (const [i, item] of items.entries()) {
      for (let next = i + begun.length; begun.length < width && next < items.length; next++) {
        const one = read(items[next] as T)
        // Its error is for whoever waits for it, if anybody does.
        one.catch(() => undefined)
        begun.push(one)
      }
      yield { item, result: await (begun.shift() as Promise<R>) }
      width = Math.min(most, width * 2)
    }
  } finally {
    // Whoever has opened a file for them may close it now.
    await Promise.allSettled(begun)
  }
}
