import { type Finding, FINDING_LIMIT } from '../finding.ts'
import type { Source } from '../format/source.ts'
import { eventTexts } from './event-texts.ts'
import { GROWING_TEXTS_MAX, isRepeated, locationAt } from './growing-text.ts'

/** How much preceding text is scanned together with new text; no expression spans more. */
const WINDOW_CHARACTERS = 1_024

/** A text of a stream; `location`, if given, replaces the less specific one of the scan. */
export type StreamText = { readonly source: Source; readonly location: string | null }

/** The findings in a stream so far, and the end of each growing text in it. */
export class StreamFindings {
  readonly #windows = new Map<string, { tail: string; last: string }>()
  /** By severity: many harmless findings must not hide an attack that follows them. */
  readonly #reported = new Map<string, Set<string>>()
  #fresh: Finding[] = []

  /** Each finding once. */
  report(found: readonly Finding[], location: string | null): void {
    for (const finding of found) {
      const named = location === null ? finding : { ...finding, location }
      const key = `${named.pattern_name} ${named.pattern ?? ''} ${named.location}`
      const kind = `${named.severity} ${named.whitelisted}`
      const reported = this.#reported.get(kind) ?? new Set()
      if (reported.has(key) || reported.size >= FINDING_LIMIT) continue
      this.#reported.set(kind, reported.add(key))
      this.#fresh.push(named)
    }
  }

  /** What was reported since it was taken last. */
  get fresh(): readonly Finding[] {
    return this.#fresh
  }

  take(): readonly Finding[] {
    const fresh = this.#fresh
    this.#fresh = []
    return fresh
  }

  /**
   * The strings of an event, each with the preceding text at its position, so that an attack that is split into tokens is read
   * as one text. @param suffix appended to the positions, for another reading of the same events
   */
  joined(data: string, suffix = ''): StreamText[] {
    const texts: StreamText[] = []
    for (const { path, text } of eventTexts(Buffer.from(data))) {
      const joined = this.#join(path + suffix, text)
      if (joined !== null) texts.push(joined)
    }
    return texts
  }

  #join(place: string, text: string): StreamText | null {
    let path = place
    let window = this.#windows.get(path)
    if (window === undefined) {
      if (this.#windows.size >= GROWING_TEXTS_MAX) path = ''
      window = this.#windows.get(path) ?? { tail: '', last: '' }
      this.#windows.set(path, window)
    }
    if (isRepeated(text, window.last)) return null
    window.last = text
    const joined = window.tail + text
    window.tail = joined.slice(-WINDOW_CHARACTERS)
    if (joined.length === text.length) return null
    const bytes = Buffer.from(joined.slice(-WINDOW_CHARACTERS - text.length))
    return {
      source: { bytes, format: 'text', location: 'response.body' },
      location: locationAt(path),
    }
  }
}
