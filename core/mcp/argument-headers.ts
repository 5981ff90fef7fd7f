import { readString } from '../request/json-lexis.ts'
import { skipValue, walkElements, walkMembers } from '../request/walk-json.ts'
import { decodeHeaderValue } from './decode-header-value.ts'

const QUOTE = 0x22
const OPEN_ARRAY = 0x5b
const OPEN_OBJECT = 0x7b
/** Only properties of objects can be mirrored, and no tool nests them deeper. */
const DEPTH_LIMIT = 32
const NUMBER = /^-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?$/

/**
 * The `Mcp-Param-…` headers of a tool call. The tool's schema says which argument a header mirrors; it is not known
 * here, so each header must have the value of some argument.
 */
export class ArgumentHeaders {
  readonly #unmatched: Set<string>
  /** Names of headers by their value. */
  readonly #texts = new Map<string, string[]>()
  readonly #numbers = new Map<number, string[]>()
  #longest_text_bytes = 0

  constructor(headers: ReadonlyMap<string, string>) {
    this.#unmatched = new Set(headers.keys())
    for (const [name, value] of headers) {
      const text = decodeHeaderValue(value)
      if (text === null) continue
      this.#texts.set(text, [...(this.#texts.get(text) ?? []), name])
      this.#longest_text_bytes = Math.max(this.#longest_text_bytes, value.length)
      if (!NUMBER.test(text)) continue
      const number = Number(text)
      this.#numbers.set(number, [...(this.#numbers.get(number) ?? []), name])
    }
  }

  /** A header whose value is not the value of any argument. */
  get unmatched(): string | null {
    const [name] = this.#unmatched
    return name ?? null
  }

  /** Reads the arguments that begin at `start`; returns where they end, or -1 if they are not well-formed. */
  read(body: Buffer, start: number, depth = 0): number {
    const first = body[start]
    const isContainer = first === OPEN_OBJECT || first === OPEN_ARRAY
    if (isContainer && depth < DEPTH_LIMIT && this.#unmatched.size > 0)
      return first === OPEN_OBJECT
        ? walkMembers(body, start, ({ value_start }) => this.read(body, value_start, depth + 1))
        : walkElements(body, start, (element) => this.read(body, element, depth + 1))
    const end = skipValue(body, start)
    if (end < 0 || isContainer) return end
    if (first !== QUOTE) this.#scalar(body.toString('latin1', start, end))
    // Each character of a string may be escaped with six bytes.
    else if (end - start <= this.#longest_text_bytes * 6 + 2)
      this.#match(this.#texts.get(readString(body, start, end)))
    return end
  }

  /** `42` and `42.0` are the same number. */
  #scalar(text: string): void {
    this.#match(this.#texts.get(text))
    if (NUMBER.test(text)) this.#match(this.#numbers.get(Number(text)))
  }

  #match(names: readonly string[] | undefined): void {
    for (const name of names ?? []) this.#unmatched.delete(name)
  }
}
