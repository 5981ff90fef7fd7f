import type { ByteEdit } from './edit-bytes.ts'
import { decodeFormText } from './decode-form-text.ts'
import { mayHoldKey } from './may-hold-key.ts'
import { readString, skipSpace, skipStart } from './json-lexis.ts'
import { skipValue, walkMembers } from './walk-json.ts'

export type FoundAgentId =
  | { readonly kind: 'none' }
  /** Two members with this name, whatever their values: readers differ in which one they use. */
  | { readonly kind: 'ambiguous' }
  | {
      readonly kind: 'found'
      readonly agent_id: string
      /** The member and one separator, for `editBytes`, without the white space between them. */
      readonly cut: readonly ByteEdit[]
    }

const NONE: FoundAgentId = { kind: 'none' }
const AMBIGUOUS: FoundAgentId = { kind: 'ambiguous' }
const NAME = 'agent_id'
/** Every letter written as `\u0061`, and two quotes. */
const LONGEST_KEY_BYTES = NAME.length * 6 + 2
/** Longer keys are not decoded: a body may have millions. */
const SHORTEST_KEY_BYTES = NAME.length + 2
/** Every letter written as `%61`. */
const LONGEST_FORM_NAME_BYTES = NAME.length * 3
/** No form has this many fields. Servers stop reading at different numbers. */
const FORM_PAIRS_LIMIT = 50_000
const QUOTE = 0x22
const PERCENT = 0x25
const LETTER_A = 0x61
const OPEN_OBJECT = 0x7b
const AMPERSAND = 0x26
const COMMA = 0x2c

/** Looks only at the top level of an object. A body that is not well-formed JSON has no agent id. */
export function findJsonAgentId(body: Buffer): FoundAgentId {
  if (!mayHoldKey(body, NAME)) return NONE
  const start = skipStart(body)
  if (body[start] !== OPEN_OBJECT) return NONE
  let count = 0
  let found: FoundAgentId = NONE
  const end = walkMembers(body, start, ({ key_start, key_end, value_start, comma_before }) => {
    const value_end = skipValue(body, value_start)
    const key_bytes = key_end - key_start
    if (value_end < 0 || key_bytes < SHORTEST_KEY_BYTES || key_bytes > LONGEST_KEY_BYTES)
      return value_end
    if (readString(body, key_start, key_end) !== NAME) return value_end
    count++
    if (body[value_start] === QUOTE) {
      const agent_id = readString(body, value_start, value_end)
      found = { kind: 'found', agent_id, cut: memberCut(body, key_start, value_end, comma_before) }
    }
    return value_end
  })
  if (end < 0 || skipSpace(body, end) !== body.length) return NONE
  return count > 1 ? AMBIGUOUS : found
}

function memberCut(body: Buffer, start: number, end: number, comma_before: number): ByteEdit[] {
  const member = { start, end }
  const next = skipSpace(body, end)
  if (body[next] === COMMA) return [member, { start: next, end: next + 1 }]
  if (comma_before === -1) return [member]
  return [{ start: comma_before, end: comma_before + 1 }, member]
}

/** A body of `application/x-www-form-urlencoded`; names are compared decoded. */
export function findFormAgentId(body: Buffer): FoundAgentId {
  let found: FoundAgentId = NONE
  let pairs = 0
  for (let start = 0; start <= body.length; ) {
    if (++pairs > FORM_PAIRS_LIMIT) return AMBIGUOUS
    const next = body.indexOf(AMPERSAND, start)
    const end = next === -1 ? body.length : next
    const value = valueIfNamed(body, start, end)
    if (value !== null) {
      if (found.kind !== 'none') return AMBIGUOUS
      const cut = next !== -1 ? { start, end: end + 1 } : { start: Math.max(0, start - 1), end }
      found = { kind: 'found', agent_id: decodeFormText(value), cut: [cut] }
    }
    start = end + 1
  }
  return found
}

/** The undecoded value of the pair when its name is `agent_id`, else null. */
function valueIfNamed(body: Buffer, start: number, end: number): string | null {
  if (end - start < NAME.length || (body[start] !== LETTER_A && body[start] !== PERCENT))
    return null
  const bound = Math.min(end, start + LONGEST_FORM_NAME_BYTES + 1)
  const head = body.toString('latin1', start, bound)
  const equals = head.indexOf('=')
  if (equals === -1) return bound === end && decodeFormText(head) === NAME ? '' : null
  if (decodeFormText(head.slice(0, equals)) !== NAME) return null
  return body.toString('latin1', start + equals + 1, end)
}
