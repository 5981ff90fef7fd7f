import { type Blob, deriveBlobs, deriveNumbers, deriveParts } from './decode/derive-blobs.ts'
import {
  deriveJoined,
  deriveLeet,
  deriveReversed,
  deriveRot13,
  leetPlaces,
  stretchesAround,
} from './decode/derive-letters.ts'
import { deriveJoinedLines } from './decode/derive-joined-lines.ts'
import { deriveEscapes } from './decode/derive-escapes.ts'
import { deriveHyphenated } from './decode/derive-hyphenated.ts'
import { deriveMarked } from './decode/derive-marked.ts'
import { deriveSelectors, deriveSpelled, deriveUntagged } from './decode/derive-spelled.ts'
import { deriveTypos } from './decode/derive-typos.ts'
import { deriveUnbroken } from './decode/derive-unbroken.ts'
import type { DerivedText } from './decode/derived-text.ts'
import type { LetterTrie } from './decode/letter-trie.ts'
import type { LearnedModel } from './model/learned-model.ts'
import { scoreWords } from './model/score-words.ts'
import type { CompiledPatterns } from './patterns/compile-patterns.ts'
import type { Hit } from './text/place-search.ts'
import { SearchBudget } from './text/search-budget.ts'
import { TextScanner, type WindowView } from './text/text-scanner.ts'

/** How many disguises may be nested. */
const DEEPEST_LAYER = 3
/** Fewer words of the patterns in ROT13 or reversed occur by chance. */
const LETTER_WORDS = 2
const ESCAPES = 3
/** How many readings of the same letters may be combined, such as leetspeak with spaces between the letters. */
const LETTER_READINGS = 2
const LETTER_VIA: ReadonlySet<string> = new Set([
  'rot13',
  'reversed',
  'leetspeak',
  'typos',
  'hyphenated',
  'spaced_letters',
  'joined_words',
])

/** A hit in the outermost source, with the disguises that were decoded to find it, outermost first. */
export type LayeredHit = Hit & { readonly via: readonly DerivedText['via'][] }

/**
 * A name of a program is no text: its words would be judged without what stands around them. Lines have the same words when
 * they are joined.
 */
const UNJUDGED: ReadonlySet<string> = new Set(['joined_words', 'joined_lines'])

export type EncodedRun = { readonly start: number; readonly end: number }

/** @param places ascending */
const hasOneWithin = (places: readonly number[], { start, end }: Hit): boolean => {
  let low = 0
  let high = places.length
  while (low < high) {
    const middle = (low + high) >> 1
    if ((places[middle] as number) < start) low = middle + 1
    else high = middle
  }
  return low < places.length && (places[low] as number) < end
}

/** Scans a text and, if there are signs of an encoding or disguise, the decoded text. */
export class LayeredScanner {
  readonly text: TextScanner
  readonly hits: LayeredHit[] = []
  /** The learned model that is used in addition to the patterns, if any. */
  model: LearnedModel | null = null
  /** Shared by all layers of a request. */
  budget = new SearchBudget()
  /** The first run of Base64 that is longer than the limit of the specification. */
  encoded_run: EncodedRun | null = null
  readonly #compiled: CompiledPatterns
  readonly #trie: LetterTrie
  readonly #depth: number
  #below: LayeredScanner | null = null
  #blobEnd = 0
  /** Readings of the letters that led to this text. */
  #readings: ReadonlySet<DerivedText['via']> = new Set()

  constructor(compiled: CompiledPatterns, trie: LetterTrie, depth = 0) {
    this.#compiled = compiled
    this.#trie = trie
    this.#depth = depth
    this.text = new TextScanner(
      compiled,
      (view) => this.#look(view),
      (hashes, first, end) =>
        this.model === null ? null : scoreWords(this.model, hashes, first, end),
    )
  }

  /** Begins a source. `active` selects the patterns to search for. */
  begin(source: Buffer, active: Uint8Array | null = null): void {
    if (active !== null) this.text.active = active
    this.text.budget = this.budget
    this.hits.length = 0
    this.encoded_run = null
    this.#blobEnd = 0
    this.text.begin(source)
  }

  finish(): void {
    this.text.finish()
    for (const hit of this.text.hits) this.hits.push({ ...hit, via: [] })
  }

  /** Scans a text that was made from parts of the source. */
  lookAt(derived: DerivedText): void {
    this.#descend(derived)
  }

  #look(view: WindowView): void {
    if (this.#depth === DEEPEST_LAYER) return
    const { signs } = view
    if (signs.blobs.length > 0) {
      for (const blob of deriveBlobs(view, this.#blobEnd)) {
        this.#blobEnd = Math.max(this.#blobEnd, blob.end)
        this.#noteBlob(blob)
      }
    }
    for (let i = 0; i < signs.number_runs.length; i += 2) {
      const start = signs.number_runs[i] as number
      const end = signs.number_runs[i + 1] as number
      for (const derived of deriveNumbers(view, start, end)) this.#descend(derived)
    }
    if (signs.escapes >= ESCAPES) for (const derived of deriveEscapes(view)) this.#descend(derived)
    if (signs.mixed.length > 0) this.#descend(deriveParts(view))
    for (const derived of deriveSpelled(view)) this.#descend(derived)
    this.#descend(deriveSelectors(view))
    this.#descend(deriveUntagged(view))
    for (const derived of deriveMarked(view)) this.#descend(derived)
    for (const derived of deriveUnbroken(view, this.#compiled.table)) this.#descend(derived)
    for (const derived of deriveJoinedLines(view)) this.#descend(derived)
    this.#lookAtLetters(view)
  }

  /** Other readings of the same letters: each at most once, and at most two combined; without hyphens none. */
  #lookAtLetters(view: WindowView): void {
    const { signs } = view
    const { table } = this.#compiled
    if (this.#readings.size === LETTER_READINGS || this.#readings.has('hyphenated')) return
    if (!this.#readings.has('rot13')) {
      const isNamed = this.#readings.size === 0 && view.text.subarray(0, view.end).includes('rot13')
      const stretches: readonly (readonly [number, number])[] = isNamed
        ? [[0, view.end]]
        : stretchesAround(signs.words[0], view.end, LETTER_WORDS)
      for (const [start, end] of stretches) this.#descend(deriveRot13(view, start, end))
    }
    if (signs.words[1].length > 0 && !this.#readings.has('reversed')) {
      for (const [start, end] of stretchesAround(signs.words[1], view.end, LETTER_WORDS))
        this.#descend(deriveReversed(view, start, end))
    }
    if (signs.leet.length + signs.symbols.length > 0 && !this.#readings.has('leetspeak')) {
      const places =
        signs.symbols.length === 0
          ? signs.leet
          : [...signs.leet, ...leetPlaces(view, table)].sort((a, b) => a - b)
      for (const [start, end] of stretchesAround(places, view.end, 1))
        this.#descend(deriveLeet(view, start, end, table))
    }
    if (signs.words[2].length > 0 && !this.#readings.has('typos')) {
      for (const [start, end] of stretchesAround(signs.words[2], view.end, 1))
        this.#descend(deriveTypos(view, start, end))
    }
    if (this.#readings.size === 0) {
      for (const derived of deriveHyphenated(view, table)) this.#descend(derived)
    }
    if (signs.spaced.length > 0 && !this.#readings.has('spaced_letters')) {
      this.#descend(deriveJoined(view, this.#trie, signs.spaced, 'spaced_letters'))
    }
    if (signs.long_words.length > 0 && !this.#readings.has('joined_words')) {
      this.#descend(deriveJoined(view, this.#trie, signs.long_words, 'joined_words'))
    }
  }

  #noteBlob(blob: Blob): void {
    if (blob.text !== null) this.#descend(blob.text)
    if (this.encoded_run === null && blob.is_base64 && blob.end - blob.start > 100) {
      this.encoded_run = { start: blob.start, end: blob.end }
    }
  }

  #descend(derived: DerivedText | null): void {
    if (derived === null) return
    this.#below ??= new LayeredScanner(this.#compiled, this.#trie, this.#depth + 1)
    const below = this.#below
    below.model = UNJUDGED.has(derived.via) ? null : this.model
    below.budget = this.budget
    below.#readings = LETTER_VIA.has(derived.via)
      ? new Set([...this.#readings, derived.via])
      : this.#readings
    below.begin(derived.text, this.text.active)
    below.text.piece(0, derived.text.length, false)
    below.finish()
    const { offsets, changed } = derived
    for (const hit of below.hits) {
      if (changed !== undefined && !hasOneWithin(changed, hit)) continue
      if (derived.via === 'joined_lines' && this.#compiled.endsWithLine(hit.pattern)) continue
      let start = derived.start
      let end = derived.end
      if (offsets !== undefined) {
        const first = offsets[hit.start] ?? 0
        const last = offsets[hit.end - 1] ?? first
        start = Math.min(first, last)
        end = Math.max(first, last) + 1
      }
      this.hits.push({ ...hit, start, end, via: [derived.via, ...hit.via] })
    }
  }
}
