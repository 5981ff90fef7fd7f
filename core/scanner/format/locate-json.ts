import { skipLooseString, skipSpace } from '../../request/json-lexis.ts'
import { type JsonVisitor, walkJson } from '../../request/walk-json.ts'
import type { Shape } from '../conversation/shapes.ts'
import {
  type Level,
  OF_NO_API,
  shapeOf,
  speakerOf,
  type Spoken,
  type TrailStep,
} from '../conversation/speaker-of.ts'

/** A position in a JSON body: its path, who speaks there, and the string around it. */
export type JsonPlace = Spoken & {
  readonly path: string
  readonly start: number
  readonly end: number
}

/** Deeper paths are cut in the middle; an operator needs the beginning and the end. */
const SHOWN_STEPS = 32
/** No shape of an API reads deeper. */
const SPEAKER_STEPS = 10
/** Objects that name a speaker have fewer members. */
const MEMBERS = 64
const KEY_BYTES = 256
const TAGS: ReadonlySet<string> = new Set(['role', 'type', 'kind', 'method'])

const step = (level: Level): string => {
  if (!level.isObject) return `[${level.index}]`
  return /^[\p{L}_$][\p{L}\p{N}_$-]*$/u.test(level.key)
    ? `.${level.key}`
    : `[${JSON.stringify(level.key.slice(0, 64))}]`
}

const pathOf = (levels: readonly Level[], documentIndex: number): string => {
  const half = SHOWN_STEPS / 2
  const shown =
    levels.length <= SHOWN_STEPS
      ? levels.map(step)
      : [...levels.slice(0, half).map(step), '…', ...levels.slice(-half).map(step)]
  return `${documentIndex > 0 ? `[${documentIndex}]` : ''}${shown.join('')}`
}

const unescaped = (source: Buffer, start: number, end: number): string => {
  const raw = source.toString('utf8', start, Math.min(end, start + KEY_BYTES))
  if (!raw.includes('\\')) return raw
  try {
    return JSON.parse(`"${raw}"`) as string
  } catch {
    return raw
  }
}

type Found = {
  readonly path: string
  readonly start: number
  readonly end: number
  readonly trail: readonly TrailStep[]
}

/** Notes a member as readers find it, who may ignore case and let the first or the last of two names count. */
const noteMember = (level: Level, source: Buffer, start: number, end: number): void => {
  const name = source.toString('latin1', start, Math.min(end, start + KEY_BYTES))
  const folded = name.toLowerCase()
  if (level.members.has(folded) || level.members.size === MEMBERS || !/^[ -[\]-~]*$/.test(name))
    level.isAmbiguous = true
  else level.members.set(folded, { name, tag: null })
}

/** Follows a walk and keeps the current position. */
class Locator implements JsonVisitor {
  readonly found: Found[] = []
  readonly #source: Buffer
  readonly #offsets: readonly number[]
  readonly #levels: Level[] = []
  #documents = -1
  root: Level | undefined

  constructor(source: Buffer, offsets: readonly number[]) {
    this.#source = source
    this.#offsets = offsets
  }

  readonly onOpen = (isObject: boolean): void => {
    if (this.#levels.length === 0) this.#documents += 1
    const level = { isObject, key: '', index: 0, members: new Map(), isAmbiguous: false }
    this.root ??= level
    this.#levels.push(level)
  }

  readonly onClose = (): void => {
    this.#levels.pop()
  }

  readonly onNext = (): void => {
    const level = this.#levels.at(-1)
    if (level !== undefined) level.index += 1
  }

  readonly onString = (start: number, isKey: boolean): number => {
    const source = this.#source
    const after = skipLooseString(source, start, source.length)
    const end = after < 0 ? source.length : after - 1
    const level = this.#levels.at(-1)
    if (level === undefined) this.#documents += 1
    else if (isKey) {
      level.key = unescaped(source, start + 1, end)
      if (this.#levels.length <= SPEAKER_STEPS) noteMember(level, source, start + 1, end)
    } else if (level.isObject && TAGS.has(level.key)) {
      const member = level.members.get(level.key)
      if (member !== undefined) member.tag = source.toString('latin1', start + 1, end).slice(0, 64)
    }
    this.#take(start + 1, end)
    return after
  }

  /** Every offset that is not after this string is in it. */
  #take(start: number, end: number): void {
    const { found } = this
    const offsets = this.#offsets
    if (found.length >= offsets.length || (offsets[found.length] as number) > end) return
    const levels = this.#levels
    const path = pathOf(levels, this.#documents)
    const trail = levels.slice(0, SPEAKER_STEPS).map((level) => ({ level, key: level.key }))
    const here = { path, start, end, trail }
    while (found.length < offsets.length && (offsets[found.length] as number) <= end)
      found.push(here)
  }
}

/**
 * Walks a JSON text once and returns the position of each offset; the offsets must ascend. Speakers are known where all JSON readers
 * agree: in one document without a byte-order mark, whatever the order of its members.
 */
export const locateJson = (
  source: Buffer,
  offsets: readonly number[],
  shapes: readonly Shape[] | 'any',
): JsonPlace[] => {
  const locator = new Locator(source, offsets)
  walkJson(source, 0, source.length, 'lenient', locator)
  const shape = isOneDocument(source) ? shapeOf(shapes, locator.root) : null
  return offsets.map((_, index) => {
    const one = locator.found[index]
    if (one === undefined) return { path: '', start: 0, end: source.length, ...OF_NO_API }
    const { path, start, end, trail } = one
    const spoken = shape === null ? OF_NO_API : speakerOf(shape, trail)
    return { path, start, end, ...spoken }
  })
}

const isOneDocument = (source: Buffer): boolean => {
  const start = skipSpace(source, 0)
  const end = walkJson(source, start, source.length, 'strict')
  return end >= 0 && skipSpace(source, end) === source.length
}
