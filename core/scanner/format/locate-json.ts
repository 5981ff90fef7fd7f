import { closingQuote } from './json-pieces.ts'

/** Where a place in a JSON body is, and whether an operator speaks there. */
export type JsonPlace = {
  readonly path: string
  readonly is_system: boolean
  readonly start: number
  readonly end: number
}

/** Deeper paths are cut in the middle; an operator needs the beginning and the end. */
const SHOWN_STEPS = 32
/** How many levels above the text its message may be: `messages[0].content[1].text`. */
const MESSAGE_LEVELS = 3

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
  const steps = levels.map(step)
  const shown =
    steps.length <= SHOWN_STEPS
      ? steps
      : [...steps.slice(0, SHOWN_STEPS / 2), '…', ...steps.slice(-SHOWN_STEPS / 2)]
  return `${documentIndex > 0 ? `[${documentIndex}]` : ''}${shown.join('')}`
}

const unescaped = (source: Buffer, start: number, end: number): string => {
  const raw = source.toString('utf8', start, Math.min(end, start + 256))
  try {
    return JSON.parse(`"${raw}"`) as string
  } catch {
    return raw
  }
}

/** Walks a JSON text to the string that holds `offset` and on to the end of its message. */
export const locateJson = (source: Buffer, offset: number): JsonPlace => {
  const levels: Level[] = []
  let found: {
    path: string
    start: number
    end: number
    depth: number
    watched: Level[]
    isSystemKey: boolean
  } | null = null
  let documents = -1
  let expectsKey = false
  for (let i = 0; i < source.length; i += 1) {
    const byte = source[i] as number
    const level = levels.at(-1)
    if (byte === 0x22) {
      const end = closingQuote(source, i + 1, source.length)
      if (level === undefined) documents += 1
      if (expectsKey && level !== undefined) level.key = unescaped(source, i + 1, end)
      else if (level?.isObject === true && level.key.toLowerCase() === 'role') {
        const role = unescaped(source, i + 1, end).toLowerCase()
        level.roles |= role === 'system' || role === 'developer' ? SYSTEM_ROLE : OTHER_ROLE
      }
      if (found === null && offset <= end) {
        const watched = levels.filter((one) => one.isObject).slice(-MESSAGE_LEVELS)
        const isSystemKey =
          levels.some((one, depth) => one.isObject && depth <= 1 && SYSTEM_KEYS.test(one.key)) &&
          !expectsKey
        found = {
          path: pathOf(levels, documents),
          start: i + 1,
          end,
          depth: levels.length,
          watched,
          isSystemKey,
        }
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
      if (found !== null && levels.length <= found.depth - MESSAGE_LEVELS * 2) break
    } else if (byte === 0x2c && level !== undefined) {
      level.index += 1
      expectsKey = level.isObject
    }
  }
  if (found === null) return { path: '', is_system: false, start: 0, end: source.length }
  const roles = found.watched.reduce((all, one) => all | one.roles, 0)
  return {
    path: found.path,
    is_system: found.isSystemKey || roles === SYSTEM_ROLE,
    start: found.start,
    end: found.end,
  }
}
