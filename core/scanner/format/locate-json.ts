import { skipLooseString } from '../../http-message/json-lexis.ts'
import { type JsonVisitor, walkJson } from '../../http-message/walk-json.ts'

/** A position in a JSON body: its path, whether it belongs to the operator's instructions, and the string around it. */
export type JsonPlace = {
  readonly path: string
  readonly is_system: boolean
  readonly start: number
  readonly end: number
}

/** Deeper paths are cut in the middle; an operator needs the beginning and the end. */
const SHOWN_STEPS = 32
/** How many objects above the text its message may be, as in `messages[0].content[1].text`. */
const MESSAGE_LEVELS = 3
const KEY_BYTES = 256

type Level = { readonly isObject: boolean; key: string; index: number; roles: number }

/** Bits of `Level.roles`: a member `role` names the system; one names another role. */
const SYSTEM_ROLE = 1
const OTHER_ROLE = 2
/** Members of chat APIs that contain the operator's instructions. */
const SYSTEM_KEYS =
  /^(?:system|system_?prompt|system_?instructions?|instructions|developer_?message)$/i

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

const innermostObjects = (levels: readonly Level[]): Level[] => {
  const objects: Level[] = []
  for (let i = levels.length - 1; i >= 0 && objects.length < MESSAGE_LEVELS; i -= 1) {
    const level = levels[i] as Level
    if (level.isObject) objects.push(level)
  }
  return objects
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
  readonly objects: readonly Level[]
  readonly isSystemKey: boolean
}

const noteRole = (level: Level, role: string): void => {
  level.roles |= /^(?:system|developer)$/i.test(role) ? SYSTEM_ROLE : OTHER_ROLE
}

/** Follows a walk and keeps the current position. */
class Locator implements JsonVisitor {
  readonly found: Found[] = []
  readonly #source: Buffer
  readonly #offsets: readonly number[]
  readonly #levels: Level[] = []
  #documents = -1

  constructor(source: Buffer, offsets: readonly number[]) {
    this.#source = source
    this.#offsets = offsets
  }

  readonly onOpen = (isObject: boolean): void => {
    if (this.#levels.length === 0) this.#documents += 1
    this.#levels.push({ isObject, key: '', index: 0, roles: 0 })
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
    else if (isKey) level.key = unescaped(source, start + 1, end)
    else if (level.isObject && level.key.toLowerCase() === 'role')
      noteRole(level, unescaped(source, start + 1, end))
    this.#take(start + 1, end, isKey)
    return after
  }

  /** Every offset that is not after this string is in it. */
  #take(start: number, end: number, isKey: boolean): void {
    const { found } = this
    const offsets = this.#offsets
    if (found.length >= offsets.length || (offsets[found.length] as number) > end) return
    const levels = this.#levels
    const isSystemKey =
      !isKey && levels.slice(0, 2).some((one) => one.isObject && SYSTEM_KEYS.test(one.key))
    const path = pathOf(levels, this.#documents)
    const here = { path, start, end, objects: innermostObjects(levels), isSystemKey }
    while (found.length < offsets.length && (offsets[found.length] as number) <= end)
      found.push(here)
  }
}

/**
 * Walks a JSON text once and returns the position of each offset; the offsets must ascend. An object contains operator
 * instructions if its `role` is that of the system, whatever the order of its members, unless a second member `role` names
 * another role.
 */
export const locateJson = (source: Buffer, offsets: readonly number[]): JsonPlace[] => {
  const locator = new Locator(source, offsets)
  walkJson(source, 0, source.length, 'lenient', locator)
  return offsets.map((_, index) => {
    const one = locator.found[index]
    if (one === undefined) return { path: '', is_system: false, start: 0, end: source.length }
    const roles = one.objects.reduce((all, object) => all | object.roles, 0)
    return {
      path: one.path,
      is_system: roles === 0 ? one.isSystemKey : roles === SYSTEM_ROLE,
      start: one.start,
      end: one.end,
    }
  })
}
