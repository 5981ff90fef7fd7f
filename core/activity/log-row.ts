import { isUtf8 } from 'node:buffer'
import { ACTIVITY_FIELD, BLOCK_FIELD } from './activity-entry.ts'
import { placeTexts } from './place-texts.ts'
import { RecentBlocks } from './recent-blocks.ts'
import { splitLines } from './split-lines.ts'

/** A row of a log, as XRANGE returns it: one entry, or a block of them. */
export type LogReply = readonly [id: Buffer | string, fields: readonly (Buffer | string)[]]

export interface PlacedText {
  readonly place: string
  /** JSON of an entry. */
  readonly text: string
}

/** The same as bytes. */
export interface PlacedBytes {
  readonly place: string
  readonly text: Buffer
}

const RECENT = new RecentBlocks()

/**
 * One row of an activity log. The position of a block is that of its last entry, and its entries have the positions before it.
 * A reader that continues after a position therefore reads the block again if it has an entry after that position.
 */
export class LogRow {
  readonly place: string
  readonly #fields: LogReply[1]

  constructor([id, fields]: LogReply) {
    this.place = String(id)
    this.#fields = fields
  }

  get isBlock(): boolean {
    return String(this.#fields[0]) === BLOCK_FIELD
  }

  get count(): number {
    return this.isBlock ? Number(this.#head()[0]) : 1
  }

  /** Entries in blocks, and blocks, that the log had before this block. */
  get before(): { readonly blocks: number; readonly packed: number } {
    const [, , , blocks, packed] = this.#head()
    return { blocks: Number(blocks), packed: Number(packed) }
  }

  /** For a block: its indexes, its entries that are alike, and the hashes of its request ids (core/activity/pack-block.ts). */
  get summary(): { readonly names: string; readonly alike: string; readonly requests: string } {
    const [names = '', alike = ''] = this.#text('i').split('\n')
    return { names, alike, requests: this.#text('r') }
  }

  /** In the order of the log. @throws if a block cannot be read */
  entries(): readonly PlacedText[] {
    if (!this.isBlock) return [{ place: this.place, text: this.#text(ACTIVITY_FIELD) }]
    return placeTexts(this.place, this.#expanded().toString('utf8').split('\n'))
  }

  /** The same for readers that copy entries without reading them. @throws if a block cannot be read */
  entryBytes(): readonly PlacedBytes[] {
    if (this.isBlock) return placeTexts(this.place, splitLines(inUtf8(this.#expanded())))
    const text = this.#field(ACTIVITY_FIELD) ?? ''
    return [
      { place: this.place, text: inUtf8(typeof text === 'string' ? Buffer.from(text) : text) },
    ]
  }

  #expanded(): Buffer {
    return RECENT.expand(this.#field(BLOCK_FIELD) as Buffer)
  }

  #head(): readonly string[] {
    return this.#text('h').split(' ')
  }

  #text(name: string): string {
    return String(this.#field(name) ?? '')
  }

  #field(name: string): Buffer | string | undefined {
    for (let i = 0; i + 1 < this.#fields.length; i += 2)
      if (String(this.#fields[i]) === name) return this.#fields[i + 1]
    return undefined
  }
}

/** Readers of text replace invalid bytes, and a keyed hash of the bytes would then differ from one of the text. */
const inUtf8 = (bytes: Buffer): Buffer =>
  isUtf8(bytes) ? bytes : Buffer.from(bytes.toString('utf8'), 'utf8')
