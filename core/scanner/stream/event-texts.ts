import { QUOTE, readString, skipLooseString, skipStart } from '../../request/json-lexis.ts'
import { type JsonVisitor, walkJson } from '../../request/walk-json.ts'

/** A string of an event, and its position in events of this kind. */
export type EventText = { readonly path: string; readonly text: string }

/** More strings than an event of any API has; the event as a whole is scanned as well. */
const LARGEST_TEXT_COUNT = 256
const DEEPEST_PATH = 16
const OPEN_ARRAY = 0x5b
const OPEN_OBJECT = 0x7b

type Level = {
  readonly isObject: boolean
  readonly depth: number
  readonly parent: Level | null
  /** The way from the parent to here. */
  readonly step: string
  /** The name of the current member, with a number appended if the name has occurred before. */
  key: string
  readonly keys: string[]
  place: number
  /** The member `index`, which distinguishes choices and content blocks; their position does not. */
  index: string
}

type Found = { readonly level: Level | null; readonly step: string; readonly text: string }

const stepIn = (level: Level | null): string => {
  if (level === null) return ''
  return level.isObject ? `.${level.key}` : `[${level.place}]`
}

const pathOf = (level: Level | null, step: string): string =>
  level === null ? step : pathOf(level.parent, level.step) + level.index + step

/** The decoded text of a JSON string, or its bytes as they are if its escapes are invalid. */
const textOf = (source: Buffer, start: number, end: number): string => {
  try {
    return readString(source, start, end)
  } catch {
    return source.toString('utf8', start + 1, end - 1)
  }
}

/** Collects the strings of a walk with their paths. */
class TextCollector implements JsonVisitor {
  readonly found: Found[] = []
  readonly #source: Buffer
  #level: Level | null = null

  constructor(source: Buffer) {
    this.#source = source
  }

  readonly onOpen = (isObject: boolean): void => {
    const parent = this.#level
    const depth = (parent?.depth ?? 0) + 1
    const step = stepIn(parent)
    this.#level = { isObject, depth, parent, step, key: '', keys: [], place: 0, index: '' }
  }

  readonly onClose = (): void => {
    this.#level = this.#level?.parent ?? null
  }

  readonly onNext = (): void => {
    if (this.#level !== null) this.#level.place += 1
  }

  readonly onScalar = (start: number, end: number): void => {
    const level = this.#level
    if (level?.isObject !== true || level.key !== 'index') return
    const number = Number(this.#source.toString('latin1', start, end))
    if (Number.isFinite(number)) level.index = `#${number}`
  }

  readonly onString = (start: number, isKey: boolean): number => {
    const after = skipLooseString(this.#source, start, this.#source.length)
    if (after < 0) return -1
    const level = this.#level
    if (isKey && level !== null) enter(level, textOf(this.#source, start, after))
    else if (after - start > 2 && (level?.depth ?? 0) <= DEEPEST_PATH) this.#take(start, after)
    return after
  }

  #take(start: number, end: number): void {
    if (this.found.length >= LARGEST_TEXT_COUNT) return
    const text = textOf(this.#source, start, end)
    this.found.push({ level: this.#level, step: stepIn(this.#level), text })
  }
}

/** Readers differ in which of two members with the same name they use, so each has a position of its own. */
const enter = (level: Level, name: string): void => {
  const before = level.keys.filter((key) => key === name).length
  level.key = before === 0 ? name : `${name}~${before + 1}`
  if (level.keys.length < LARGEST_TEXT_COUNT) level.keys.push(name)
}

/** The strings of an event by their position; the whole data if it is not JSON. */
export const eventTexts = (data: Buffer): EventText[] => {
  const whole = (): EventText[] => [{ path: '', text: data.toString() }]
  const first = data[skipStart(data)]
  if (first !== OPEN_OBJECT && first !== OPEN_ARRAY && first !== QUOTE) return whole()
  const collector = new TextCollector(data)
  if (walkJson(data, 0, data.length, 'lenient', collector) < 0) return whole()
  // An index may follow the members that it belongs to.
  return collector.found.map(({ level, step, text }) => ({ path: pathOf(level, step), text }))
}
