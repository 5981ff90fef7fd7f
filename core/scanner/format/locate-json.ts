import { closingQuote } from './json-pieces.ts'

/** Where a place in a JSON body is, whether an operator speaks there, and the string that holds it. */
export type JsonPlace = {
  readonly path: string
  readonly is_system: boolean
  readonly start: number
  readonly end: number
}

/** Deeper paths are cut in the middle; an operator needs the beginning and the end. */
const SHOWN_STEPS = 32
/** How many objects above the text its message may be: `messages[0].content[1].text`. */
const MESSAGE_LEVELS = 3
const KEY_BYTES = 256

type Level = { isObject: boolean; key: string; index: number; roles: number }

/** Bits of `Level.roles`: a member `role` that names the system, one that names another. */
const SYSTEM_ROLE = 1
const OTHER_ROLE = 2
/** Members of the large chat APIs that hold what the operator says. */
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

type Found = { path: string; start: number; end: number; objects: Level[]; isSystemKey: boolean }

const noteRole = (level: Level, role: string): void => {
  level.roles |= /^(?:system|developer)$/i.test(role) ? SYSTEM_ROLE : OTHER_ROLE
}

/**
 * Walks a JSON text once and says where each of the offsets is; they must ascend. An operator speaks in
 * an object whose `role` is the system's, whatever its members' order, unless another member `role` says
 * otherwise.
 */
export const locateJson = (source: Buffer, offsets: readonly number[]): JsonPlace[] => {
  const levels: Level[] = []
  const found: Found[] = []
  let documents = -1
  let expectsKey = false
  for (let i = 0; i < source.length; i += 1) {
    const byte = source[i] as number
    const level = levels.at(-1)
    if (byte === 0x22) {
      const end = closingQuote(source, i + 1, source.length)
      if (level === undefined) documents += 1
      else if (expectsKey) level.key = unescaped(source, i + 1, end)
      else if (level.isObject && level.key.toLowerCase() === 'role')
        noteRole(level, unescaped(source, i + 1, end))
      if (found.length < offsets.length && (offsets[found.length] as number) <= end) {
        const isSystemKey =
          !expectsKey && levels.slice(0, 2).some((one) => one.isObject && SYSTEM_KEYS.test(one.key))
        const here = {
          path: pathOf(levels, documents),
          start: i + 1,
          end,
          objects: innermostObjects(levels),
          isSystemKey,
        }
        while (found.length < offsets.length && (offsets[found.length] as number) <= end)
          found.push(here)
      }
      i = end
      expectsKey = false
    } else if (byte === 0x7b || byte === 0x5b) {
      if (level === undefined) documents += 1
      levels.push({ isObject: byte === 0x7b, key: '', index: 0, roles: 0 })
      expectsKey = byte === 0x7b
    } else if (byte === 0x7d || byte === 0x5d) {
      levels.pop()
      expectsKey = false
    } else if (byte === 0x2c && level !== undefined) {
      level.index += 1
      expectsKey = level.isObject
    }
  }
  return offsets.map((_, index) => {
    const one = found[index]
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
