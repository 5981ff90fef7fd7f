import { type EffectiveTools, isToolAllowed } from '../../core/mcp/check-mcp-tool.ts'
import { beginsLikeJson } from '../../core/scanner/format/begins-like-json.ts'
import { type ByteRange, cutRanges } from '../../core/policy/cut-ranges.ts'
import {
  readString,
  skipSpace,
  skipStart,
  skipValue,
  walkElements,
  walkMembers,
} from '../../core/http-message/walk-json.ts'

const OPEN_ARRAY = 0x5b
const OPEN_OBJECT = 0x7b
const QUOTE = 0x22

export type FilteredTools =
  /** Nothing is to be cut, or it is nothing that a client takes for a list of tools. */
  | { readonly kind: 'unchanged' }
  | { readonly kind: 'filtered'; readonly body: Buffer }
  /** It may hold a list in a form that only some readers understand. */
  | { readonly kind: 'unreadable' }

const UNCHANGED: FilteredTools = { kind: 'unchanged' }

/**
 * A JSON-RPC answer, a batch of them, or several one after the other, without the tools that the agent may not call;
 * every other byte stays.
 */
export function filterTools(body: Buffer, tools: EffectiveTools): FilteredTools {
  const cuts: ByteRange[] = []
  for (let at = skipStart(body); at < body.length; ) {
    const end =
      body[at] === OPEN_ARRAY
        ? walkElements(body, at, (element) => readMessage(body, element, tools, cuts))
        : readMessage(body, at, tools, cuts)
    if (end < 0) return mayHoldTools(body) ? { kind: 'unreadable' } : UNCHANGED
    at = skipSpace(body, end)
  }
  return cuts.length === 0 ? UNCHANGED : { kind: 'filtered', body: cutRanges(body, cuts) }
}

/** Also where the name is escaped, or in UTF-16. A page of HTML is no list, whatever it tells of tools. */
const mayHoldTools = (body: Buffer): boolean =>
  beginsLikeJson(body) && (body.includes('tools') || body.includes('\\u') || body.includes(0))

/** Answers where the value ends, -1 when it is not well-formed. */
function readMessage(
  body: Buffer,
  start: number,
  tools: EffectiveTools,
  cuts: ByteRange[],
): number {
  return eachMember(body, start, 'result', (result) =>
    eachMember(body, result, 'tools', (list) => readList(body, list, tools, cuts)),
  )
}

/** Goes into every member of that name: of two, readers differ in which one they take. */
function eachMember(
  body: Buffer,
  start: number,
  name: string,
  enter: (at: number) => number,
): number {
  if (body[start] !== OPEN_OBJECT) return skipValue(body, start)
  return walkMembers(body, start, ({ key_start, key_end, value_start }) =>
    readString(body, key_start, key_end) === name
      ? enter(value_start)
      : skipValue(body, value_start),
  )
}

/** Cuts each blocked tool with one comma: the one before it, or behind it as long as no tool is kept before. */
function readList(body: Buffer, start: number, tools: EffectiveTools, cuts: ByteRange[]): number {
  if (body[start] !== OPEN_ARRAY) return skipValue(body, start)
  const elements: { readonly start: number; readonly end: number; readonly isKept: boolean }[] = []
  const end = walkElements(body, start, (at) => {
    const stop = skipValue(body, at)
    if (stop >= 0)
      elements.push({ start: at, end: stop, isKept: isToolAllowed(tools, nameOf(body, at)) })
    return stop
  })
  let isOneKept = false
  for (const [place, element] of elements.entries()) {
    isOneKept ||= element.isKept
    if (element.isKept) continue
    if (isOneKept) cuts.push({ start: elements[place - 1]?.end ?? element.start, end: element.end })
    else cuts.push({ start: element.start, end: elements[place + 1]?.start ?? element.end })
  }
  return end
}

/** The tool's name; null when it has none as text, or two, which no allow list takes. */
function nameOf(body: Buffer, start: number): string | null {
  if (body[start] !== OPEN_OBJECT) return null
  let name: string | null = null
  let names = 0
  walkMembers(body, start, ({ key_start, key_end, value_start }) => {
    const stop = skipValue(body, value_start)
    if (stop >= 0 && readString(body, key_start, key_end) === 'name') {
      names++
      name = body[value_start] === QUOTE ? readString(body, value_start, stop) : null
    }
    return stop
  })
  return names === 1 ? name : null
}
