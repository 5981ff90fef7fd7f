import { readString } from '../request/json-lexis.ts'

/** Each of the fourteen letters of `inputResponses` as `\u0061`, and two quotes. */
const LONGEST_BYTES = 14 * 6 + 2
/** `id`, and two quotes. */
const SHORTEST_BYTES = 4
const NUL = '\\u0000'

/**
 * The name of a member as the most lenient reader compares it: unescaped, without case, because Go reads `Method` as `method`,
 * and cut at a NUL, where C strings end. Empty for a name that is too long or too short to be a relevant one.
 * @param start of the string, with its quotes
 */
export function foldMemberName(body: Buffer, start: number, end: number): string {
  if (end - start < SHORTEST_BYTES) return ''
  if (end - start > LONGEST_BYTES) return cutName(body, start)
  const name = readString(body, start, end)
  const nul = name.indexOf('\0')
  return fold(nul === -1 ? name : name.slice(0, nul))
}

function cutName(body: Buffer, start: number): string {
  const nul = body.subarray(start, start + LONGEST_BYTES).indexOf(NUL)
  return nul === -1 ? '' : fold(String(JSON.parse(`${body.toString('utf8', start, start + nul)}"`)))
}

const fold = (name: string): string => name.trim().toUpperCase().toLowerCase()
