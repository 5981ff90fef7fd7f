import { readString } from '../request/json-lexis.ts'
import { skipValue, walkElements, walkMembers } from '../request/walk-json.ts'
import { foldMemberName } from './fold-member-name.ts'

const QUOTE = 0x22
const OPEN_ARRAY = 0x5b
const OPEN_OBJECT = 0x7b
/** `inputResponses`, a response, its content, a block; the rest is a margin. */
const DEPTH_LIMIT = 12
const TOOL_USE = 'tool_use'

/**
 * The tools that a response of the client asks the server to run: a server may offer tools for sampling, and runs those named
 * in blocks of type `tool_use`. @param onUse receives the name, null if it is not a string @returns where the value ends, or -1
 * if it is not well-formed
 */
export function findToolUses(
  body: Buffer,
  start: number,
  onUse: (name: string | null) => void,
  depth = 0,
): number {
  const inside = (at: number): number => findToolUses(body, at, onUse, depth + 1)
  if (depth >= DEPTH_LIMIT) return skipValue(body, start)
  if (body[start] === OPEN_ARRAY) return walkElements(body, start, inside)
  if (body[start] !== OPEN_OBJECT) return skipValue(body, start)
  let isUse = false
  let names: readonly (string | null)[] = []
  const end = walkMembers(body, start, ({ key_start, key_end, value_start }) => {
    const stop = inside(value_start)
    if (stop < 0) return -1
    const key = foldMemberName(body, key_start, key_end)
    if (key !== 'type' && key !== 'name') return stop
    const text = body[value_start] === QUOTE ? readString(body, value_start, stop) : null
    if (key === 'name') names = [...names.slice(-1), text]
    else isUse ||= text === TOOL_USE
    return stop
  })
  if (isUse) for (const name of names.length === 0 ? [null] : names) onUse(name)
  return end
}
