import { setImmediate as nextTurn } from 'node:timers/promises'

/** Searched at once, in well under a millisecond. */
const SLICE_BYTES = 65_536
/** Places in a chunk that may be the beginning of a form; beyond that, more is held back than necessary. */
const BEGINNINGS_MAX = 64
/** A shorter text occurs by chance. */
const LENGTH_MIN = 8

export interface Searched {
  /** What holds none of the forms, also with what follows. */
  readonly clean: Buffer
  readonly is_found: boolean
}

const hexOf = (text: string): string => text.charCodeAt(0).toString(16).padStart(4, '0')
const inHtml = (text: string): string => `&${ENTITIES[text] ?? ''};`
const ENTITIES: Readonly<Record<string, string>> = {
  '&': 'amp',
  '<': 'lt',
  '>': 'gt',
  '"': 'quot',
  "'": '#39',
}

/** How JSON, pages and URLs escape a text; writers of JSON in .NET, Go and Gson escape more than it demands. */
export function escapedForms(text: string): readonly string[] {
  const json = JSON.stringify(text).slice(1, -1)
  const url = encodeURIComponent(text)
  return [
    json,
    json.replaceAll('/', '\\/'),
    json.replaceAll('\\"', '"').replaceAll(/["&'<>+`]/g, (one) => `\\u${hexOf(one).toUpperCase()}`),
    json.replaceAll(/[&<>]/g, (one) => `\\u${hexOf(one)}`),
    json.replaceAll(/[&'<>=]/g, (one) => `\\u${hexOf(one)}`),
    text.replaceAll(/[&<>"']/g, inHtml),
    url,
    url.replaceAll(/%../g, (one) => one.toLowerCase()),
  ]
}

/**
 * The texts that an API may write for a credential in a body: as it is, escaped, and what Base64 makes of it at each offset, in both
 * alphabets.
 * @param secrets with one character per byte; those of less than 8 bytes are left out
 */
export function echoTexts(secrets: readonly string[]): readonly Buffer[] {
  const texts = secrets
    .filter(({ length }) => length >= LENGTH_MIN)
    .flatMap((secret) => {
      const bytes = Buffer.from(secret, 'latin1')
      const text = bytes.toString('utf8')
      const base64 = [0, 1, 2].map((offset) => {
        const shifted = Buffer.concat([Buffer.alloc(offset), bytes])
        const [from, to] = [Math.ceil((offset * 8) / 6), Math.floor((shifted.length * 8) / 6)]
        return shifted.toString('base64').slice(from, to)
      })
      return [
        bytes.toString('latin1'),
        ...escapedForms(text).map((one) => Buffer.from(one, 'utf8').toString('latin1')),
        ...base64,
        ...base64.map((one) => one.replaceAll('+', '-').replaceAll('/', '_')),
      ]
    })
  return [...new Set(texts)].map((text) => Buffer.from(text, 'latin1'))
}

/**
 * Searches a body that comes in chunks. It holds back only what may be the beginning of a form, less than the longest one, and no
 * beginning of less than `BEGINNING_BYTES`, which occurs by chance.
 */
export class EchoSearch {
  readonly #forms: readonly Buffer[]
  /** The last bytes that went out, and those that are held back behind them. */
  #released: Buffer = NO_BYTES
  #held: Buffer = NO_BYTES

  constructor(forms: readonly Buffer[]) {
    this.#forms = forms
  }

  async push(chunk: Buffer, end: boolean): Promise<Searched> {
    if (chunk.length <= SLICE_BYTES) return this.#slice(chunk, end)
    const clean: Buffer[] = []
    for (let at = 0; at < chunk.length; at += SLICE_BYTES) {
      if (at > 0) await nextTurn()
      const next = at + SLICE_BYTES
      const searched = this.#slice(chunk.subarray(at, next), end && next >= chunk.length)
      clean.push(searched.clean)
      if (searched.is_found) return { clean: Buffer.concat(clean), is_found: true }
    }
    return { clean: Buffer.concat(clean), is_found: false }
  }

  #slice(chunk: Buffer, end: boolean): Searched {
    const from = this.#released.length
    const bytes = Buffer.concat([this.#released, this.#held, chunk])
    const first = Math.min(...this.#forms.map((form) => placeIn(bytes, form)))
    if (first < bytes.length) return { clean: bytes.subarray(from, first), is_found: true }
    const until = Math.max(from, end ? bytes.length : this.#beginningIn(bytes))
    const isAll = this.#held.length === 0 && until === bytes.length
    this.#held = bytes.subarray(until)
    this.#released = bytes.subarray(Math.max(0, until - BEGINNING_BYTES + 1), until)
    return { clean: isAll ? chunk : bytes.subarray(from, until), is_found: false }
  }

  /** Where the first form may begin that goes on after these bytes. */
  #beginningIn(bytes: Buffer): number {
    let first = bytes.length
    for (const form of this.#forms) {
      const beginning = form.subarray(0, BEGINNING_BYTES)
      let at = bytes.indexOf(beginning, Math.max(0, bytes.length - form.length + 1))
      for (let tried = 0; at >= 0 && at < first; tried++) {
        const rest = bytes.subarray(at)
        if (tried === BEGINNINGS_MAX || rest.equals(form.subarray(0, rest.length))) first = at
        else at = bytes.indexOf(beginning, at + 1)
      }
    }
    return first
  }
}

const NO_BYTES = Buffer.alloc(0)
const BEGINNING_BYTES = 4

/** The length of the text if the form is not in it. */
const placeIn = (bytes: Buffer, form: Buffer): number => {
  const at = bytes.indexOf(form)
  return at < 0 ? bytes.length : at
}
