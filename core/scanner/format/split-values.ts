/** Longer values carry sentences of their own. */
const LONGEST_VALUE_BYTES = 48
/** Fewer values cannot divide an attack word by word. */
const LEAST_VALUES = 4
const LONGEST_TEXT_BYTES = 4_096

/** Values in reading order as one text: with blanks between them and without. Null if they are few. */
export const joinShort = (values: readonly Buffer[]): Buffer | null => {
  const short: Buffer[] = []
  let bytes = 0
  for (const value of values) {
    if (value.length === 0 || value.length > LONGEST_VALUE_BYTES) continue
    bytes += value.length
    if (bytes > LONGEST_TEXT_BYTES) break
    short.push(value)
  }
  if (short.length < LEAST_VALUES) return null
  const spaced = short.flatMap((value) => [value, Buffer.from(' ')])
  return Buffer.concat([...spaced, Buffer.from('\n'), ...short])
}

/** Members whose values a reader of the format reads one after the other. */
const READ_ON: readonly string[] = [
  'content',
  'text',
  'parts',
  'part',
  'message',
  'messages',
  'input',
  'prompt',
  'query',
  'value',
  'values',
  'body',
  'data',
  'delta',
  'chunks',
  'tokens',
  'words',
  'lines',
]
const LONGEST_NAME_BYTES = 8

/** No string is made of a name, since bodies have many. */
const hashName = (source: Buffer, start: number, end: number): number => {
  let hash = 0
  for (let i = start; i < end; i += 1) hash = (Math.imul(hash, 31) + (source[i] as number)) | 0
  return hash
}
const hashOf = (name: string): number => hashName(Buffer.from(name), 0, name.length)
const READ_ON_HASHES: ReadonlySet<number> = new Set(READ_ON.map(hashOf))
const ROLE_HASH = hashOf('role')

type Values = { readonly values: Buffer[]; readonly start: number; end: number; bytes: number }

export type SplitText = { readonly text: Buffer; readonly start: number; readonly end: number }

/** Collects the short values of messages and content parts, those of each role by themselves. */
export class SplitValues {
  readonly #byRole = new Map<string, Values>()
  #name = 0
  #role = ''

  /** A string of a JSON text, without its quotes. */
  note(source: Buffer, start: number, end: number, isKey: boolean): void {
    const length = end - start
    if (isKey) {
      this.#name = length <= LONGEST_NAME_BYTES ? hashName(source, start, end) : 0
      return
    }
    if (length === 0 || length > LONGEST_VALUE_BYTES) return
    if (this.#name === ROLE_HASH) this.#role = source.toString('latin1', start, end).slice(0, 12)
    else if (READ_ON_HASHES.has(this.#name)) this.#add(source, start, end)
  }

  #add(source: Buffer, start: number, end: number): void {
    const key = this.#role
    let held = this.#byRole.get(key)
    if (held === undefined) {
      if (this.#byRole.size === LEAST_VALUES) return
      held = { values: [], start, end, bytes: 0 }
      this.#byRole.set(key, held)
    }
    if (held.bytes > LONGEST_TEXT_BYTES) return
    held.values.push(source.subarray(start, end))
    held.end = end
    held.bytes += end - start
  }

  texts(): SplitText[] {
    return Array.from(this.#byRole.values()).flatMap(({ values, start, end }) => {
      const text = joinShort(values)
      return text === null ? [] : [{ text, start, end }]
    })
  }
}
