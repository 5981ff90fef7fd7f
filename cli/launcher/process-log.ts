import { terminalJson, terminalText } from '../terminal/terminal-text.ts'

/** `text` for people, `json` for programs: one JSON value on each line. */
export const LOG_FORMATS = ['text', 'json'] as const
export type LogFormat = (typeof LOG_FORMATS)[number]

/** Levels as pino numbers them. */
export const LOG_LEVELS = { info: 30, warn: 40, error: 50 } as const

const LEVEL_NAMES: Readonly<Record<number, string>> = {
  10: 'TRACE',
  20: 'DEBUG',
  30: 'INFO',
  40: 'WARN',
  50: 'ERROR',
  60: 'FATAL',
}

/** The members of a line that stand at its beginning, or repeat the name of its process. */
const OWN_MEMBERS = new Set(['level', 'time', 'msg', 'service', 'pid', 'hostname', 'err'])

/**
 * A line that a process has written, for the log of the launcher. Our own programs write JSON; Envoy and the store write text.
 * @param name of the process; null: the line is about one, and by the supervisor
 * @returns one line, or several in the format `text` if the process has logged the stack of an error
 */
export function processLogLine(format: LogFormat, name: string | null, line: string): string {
  if (name === null) return ownLogLine(format, 'warn', line)
  const entry = entryOf(line)
  if (format === 'json')
    return entry === null
      ? ownLogLine(format, 'info', line, { service: name })
      : terminalJson(entry)
  return entry === null ? `${name} | ${terminalText(line)}` : textOf(entry, name)
}

/**
 * Whether a line of a process is no warning: Envoy names the level, the store marks warnings with `#`. On most machines memory is not
 * overcommitted, and the store says so at each start.
 */
export function isDetail(line: string): boolean {
  const entry = entryOf(line)
  return entry === null
    ? !/\[(?:warning|error|critical)\]| # (?!WARNING Memory overcommit)/.test(line)
    : entry.level < LOG_LEVELS.warn
}

/** A line of the launcher itself. */
export function ownLogLine(
  format: LogFormat,
  level: keyof typeof LOG_LEVELS,
  msg: string,
  members: Readonly<Record<string, unknown>> = {},
): string {
  const entry = { level: LOG_LEVELS[level], time: Date.now(), service: 'agw', ...members, msg }
  return format === 'json' ? terminalJson(entry) : textOf(entry, 'agw')
}

interface LogEntry {
  readonly level: number
  /** Unix time in milliseconds. */
  readonly time: number
  readonly msg: string
  readonly err?: { readonly message?: unknown; readonly stack?: unknown }
}

/** Null: the line is not an entry of pino. */
function entryOf(line: string): LogEntry | null {
  if (!line.startsWith('{')) return null
  try {
    const entry = JSON.parse(line) as LogEntry
    const { level, time, msg } = entry
    const isEntry =
      typeof level === 'number' && Number.isSafeInteger(time) && typeof msg === 'string'
    return isEntry ? entry : null
  } catch {
    return null
  }
}

function textOf(entry: LogEntry, name: string): string {
  const level = (LEVEL_NAMES[entry.level] ?? String(entry.level)).padEnd(5)
  const members = Object.entries(entry)
    .filter(([member, value]) => !OWN_MEMBERS.has(member) && value !== null)
    .map(([member, value]) => ` ${terminalText(member)}=${valueText(value)}`)
  const { message, stack } = entry.err ?? {}
  const error = typeof message === 'string' ? ` error=${valueText(message)}` : ''
  const head = `${timeText(entry.time)} ${level} ${name}: ${terminalText(entry.msg)}`
  return `${head}${members.join('')}${error}${entry.level < LOG_LEVELS.error ? '' : stackText(stack)}`
}

/** A `Date` beyond this cannot be written. */
const LATEST_MS = 8.64e15
const timeText = (ms: number): string =>
  Math.abs(ms) > LATEST_MS ? String(ms) : new Date(ms).toISOString()

const PLAIN = /^[\w.:/@%+-]+$/

const valueText = (value: unknown): string =>
  typeof value === 'string' && PLAIN.test(value) ? value : terminalJson(value)

const stackText = (stack: unknown): string =>
  typeof stack === 'string'
    ? stack
        .split('\n')
        .slice(1)
        .map((line) => `\n  ${terminalText(line)}`)
        .join('')
    : ''
