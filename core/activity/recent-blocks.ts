import { expandBlock } from './expand-block.ts'

/** Two readers that follow a log, half a second apart, need this much at 5,000 calls a second. */
const KEPT_BYTES_MAX = 4 << 20
const TAIL_BYTES = 16

interface Kept {
  readonly block: Buffer
  readonly expanded: Buffer
}

/**
 * Expands blocks, and keeps those that were expanded last: the archive and the analysis of traffic read the same part of a log at
 * nearly the same time.
 */
export class RecentBlocks {
  readonly #bytes_max: number
  /** From old to new, by the end of the block. */
  readonly #kept = new Map<string, Kept>()
  #bytes = 0

  constructor(bytes_max = KEPT_BYTES_MAX) {
    this.#bytes_max = bytes_max
  }

  /** The result is shared and must not be changed. @throws as expandBlock does */
  expand(block: Buffer): Buffer {
    const name = block.toString('latin1', Math.max(0, block.length - TAIL_BYTES))
    const known = this.#kept.get(name)
    if (known?.block.equals(block) === true) return known.expanded
    const expanded = expandBlock(block)
    if (known !== undefined) this.#drop(name, known)
    // A copy, because the block is a part of all that was received with it.
    const kept = { block: Buffer.from(block), expanded }
    this.#kept.set(name, kept)
    this.#bytes += sizeOf(kept)
    for (const [oldest, one] of this.#kept) {
      if (this.#bytes <= this.#bytes_max) break
      this.#drop(oldest, one)
    }
    return expanded
  }

  #drop(name: string, kept: Kept): void {
    this.#kept.delete(name)
    this.#bytes -= sizeOf(kept)
  }
}

const sizeOf = ({ block, expanded }: Kept): number => block.length + expanded.length
