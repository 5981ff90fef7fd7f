interface Batch<Item> {
  readonly items: Item[]
  readonly written: Promise<void>
}

/**
 * Collects what is to be written within one turn of the event loop, by name, so that it takes one request to the store. Everyone
 * who has added something waits for that request.
 */
export class TurnBatches<Item> {
  readonly #write: (name: string, items: readonly Item[]) => Promise<void>
  readonly #items_max: number
  readonly #open = new Map<string, Batch<Item>>()

  /** @param items_max of one write; there may be several in a turn */
  constructor(items_max: number, write: (name: string, items: readonly Item[]) => Promise<void>) {
    this.#items_max = items_max
    this.#write = write
  }

  /**
   * Resolves when the item is written.
   * @throws (rejects) as the write of its batch does
   */
  add(name: string, item: Item): Promise<void> {
    const batch = this.#open.get(name)
    if (batch === undefined) return this.#begin(name, item)
    batch.items.push(item)
    if (batch.items.length >= this.#items_max) this.#open.delete(name)
    return batch.written
  }

  #begin(name: string, item: Item): Promise<void> {
    const items = [item]
    // Runs after all calls that came in the same piece of Envoy's connection.
    const written = new Promise<void>((resolve) => process.nextTick(resolve)).then(() => {
      if (this.#open.get(name)?.items === items) this.#open.delete(name)
      return this.#write(name, items)
    })
    if (this.#items_max > 1) this.#open.set(name, { items, written })
    return written
  }
}
