import { endpointTemplate } from './endpoint-template.ts'
import { Novelty, type NoveltyState } from './novelty.ts'

/** Endpoints of a scope that are tracked; above it, the least recently used one is dropped. */
const ENDPOINTS_MAX = 200
/** This many endpoints that differ only in one segment are merged: the segment is a name, not a route. */
const SIBLINGS_MAX = 12
/** Raw calls whose template is cached, so that a repeated endpoint costs one lookup. */
const MEMO_MAX = 512
/** Longer ones are rarely repeated. */
const MEMO_LENGTH_MAX = 256
const LIMITS = { items_max: ENDPOINTS_MAX, assumed_size: 2.5 }

/** The endpoints a scope has used. */
export class EndpointBook {
  readonly #novelty: Novelty
  readonly #memo = new Map<string, string>()

  constructor(state?: NoveltyState) {
    this.#novelty = new Novelty(LIMITS, state)
  }

  get state(): NoveltyState {
    return this.#novelty.state
  }

  get templates(): readonly string[] {
    return this.#novelty.items
  }

  see(method: string, path: string, now_ms: number, counts: boolean): void {
    const raw = `${method} ${path}`
    let template = this.#memo.get(raw)
    if (template === undefined) {
      template = this.#place(endpointTemplate(method, path), now_ms)
      if (this.#memo.size >= MEMO_MAX) this.#memo.clear()
      if (raw.length <= MEMO_LENGTH_MAX) this.#memo.set(raw, template)
    }
    this.#novelty.see(template, now_ms, counts)
  }

  hourPassed(now_ms: number): void {
    this.#novelty.hourPassed(now_ms)
  }

  returnDays(now_ms: number): number {
    return this.#novelty.returnDays(now_ms)
  }

  /** The template itself, or the more general one that replaces its siblings. */
  #place(template: string, now_ms: number): string {
    if (this.#novelty.has(template)) return template
    const segments = template.split('/')
    for (let at = 1; at < segments.length; at++) {
      if (segments[at] === '*') continue
      const start = `${segments.slice(0, at).join('/')}/`
      const end = ['', ...segments.slice(at + 1)].join('/')
      const wider = `${start}*${end}`
      if (this.#novelty.has(wider)) return wider
      const siblings = siblingsOf(start, end, this.#novelty.items)
      if (siblings.length < SIBLINGS_MAX) continue
      for (const sibling of siblings) this.#novelty.forget(sibling)
      this.#novelty.see(wider, now_ms, false)
      this.#memo.clear()
      return wider
    }
    return template
  }
}

/** The items that have exactly one segment between the two parts. */
const siblingsOf = (start: string, end: string, items: readonly string[]): readonly string[] =>
  items.filter(
    (item) =>
      item.startsWith(start) &&
      item.endsWith(end) &&
      item.length >= start.length + end.length &&
      !item.slice(start.length, item.length - end.length).includes('/'),
  )
