import { skipSpace } from '../request/json-lexis.ts'
import { skipValue, walkElements, walkMembers } from '../request/walk-json.ts'

/** One value of a body, by the names that lead to it. */
export type BodyField = readonly [path: string, value: string]

/** What a body says of what matters most to an approver, wherever in it that stands. */
export interface FieldsThatMatter {
  /** Nearest to the top first, then by what they are. A name that is repeated stands here as often. */
  readonly fields: readonly BodyField[]
  /** How many more there are. */
  readonly more: number
}

/** Names by how much they matter: money, who gets it, who may what, what is acted on. */
const NAMES =
  'amount total price quantity currency to recipient recipients destination payee iban account customer email cc bcc channel user role permission permissions visibility private public force method url path ref branch base title subject name'.split(
    ' ',
  )
const RANKS: ReadonlyMap<string, number> = new Map(NAMES.map((name, rank) => [name, rank]))
const FIELDS_MAX = 12
/** A larger body is not read: this much stops the event loop for some milliseconds at most. */
const READ_MAX_BYTES = 65_536
const DEPTH_MAX = 8
/** More than is shown, so that a secret that begins in what is shown is found. */
const VALUE_MAX_CHARACTERS = 600
const PATH_MAX_CHARACTERS = 100
const OPEN_ARRAY = 0x5b
const OPEN_OBJECT = 0x7b
const QUOTE = 0x22

interface Found {
  readonly place: number
  readonly field: BodyField
}

/** The fields of JSON or a form; null for any other body, and for one that is too large or not well-formed. */
export function fieldsThatMatter(body: Buffer, content_type: string): FieldsThatMatter | null {
  if (body.length > READ_MAX_BYTES) return null
  const found: Found[] = []
  let count = 0
  /** The best are kept, so that nothing that comes before them pushes them out. */
  const take = (names: readonly string[], value: () => string): void => {
    const rank = rankOf(names.findLast((name) => !/^\d*$/.test(name)) ?? '')
    if (rank === null) return
    count++
    const place = names.length * NAMES.length + rank
    if (found.length >= FIELDS_MAX && place >= (found.at(-1)?.place ?? 0)) return
    const path = names.join('.').slice(0, PATH_MAX_CHARACTERS)
    found.push({ place, field: [path, value().slice(0, VALUE_MAX_CHARACTERS)] })
    found.sort((a, b) => a.place - b.place)
    found.splice(FIELDS_MAX)
  }
  if (/^application\/x-www-form-urlencoded\b/i.test(content_type.trim()))
    for (const [name, value] of new URLSearchParams(body.toString('utf8')))
      take(
        name.split(/[[\].]+/).filter((part) => part !== ''),
        () => value,
      )
  else {
    const start = skipSpace(body, 0)
    if (body[start] !== OPEN_OBJECT && body[start] !== OPEN_ARRAY) return null
    const end = walk(body, start, [], take)
    if (end < 0 || skipSpace(body, end) < body.length) return null
  }
  return { fields: found.map(({ field }) => field), more: count - found.length }
}

type Take = (names: readonly string[], value: () => string) => void

/** Where the value ends; -1 if it is not well-formed. */
function walk(body: Buffer, start: number, names: readonly string[], take: Take): number {
  const first = body[start]
  if (names.length < DEPTH_MAX && first === OPEN_OBJECT)
    return walkMembers(body, start, ({ key_start, key_end, value_start }) =>
      walk(body, value_start, [...names, textOf(body, key_start, key_end)], take),
    )
  if (names.length < DEPTH_MAX && first === OPEN_ARRAY) {
    let i = 0
    return walkElements(body, start, (at) => walk(body, at, [...names, String(i++)], take))
  }
  const end = skipValue(body, start)
  if (end >= 0) take(names, () => textOf(body, start, end))
  return end
}

/** Of a string what it says; of anything else what is written. A long one is cut before it is read. */
function textOf(body: Buffer, start: number, end: number): string {
  const text = body.toString('utf8', start, Math.min(end, start + VALUE_MAX_CHARACTERS * 6))
  if (body[start] !== QUOTE) return text
  try {
    return String(JSON.parse(text))
  } catch {
    return text
  }
}

/** By the words of a name: `unit_amount`, `toAccount`. Null for one that does not matter. */
function rankOf(name: string): number | null {
  const words = name.slice(0, PATH_MAX_CHARACTERS).replaceAll(/([a-z\d])([A-Z])/g, '$1 $2')
  const ranks = words
    .toLowerCase()
    .split(/[^a-z]+/)
    .flatMap((word) => RANKS.get(word) ?? [])
  return ranks.length === 0 ? null : Math.min(...ranks)
}
