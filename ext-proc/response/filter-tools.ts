import { type EffectiveTools, isToolAllowed } from '../../core/policy/check-mcp-tool.ts'
import { type ByteRange, cutRanges } from '../../core/policy/cut-ranges.ts'
import {
  readString,
  skipStart,
  skipValue,
  walkElements,
  walkMembers,
} from '../../core/policy/walk-json.ts'

const OPEN_ARRAY = 0x5b
const OPEN_OBJECT = 0x7b
const QUOTE = 0x22

/**
 * A JSON-RPC answer, or a batch of them, without the tools that the agent may not call; every other byte stays. Null
 * where nothing is to be cut, and where the bytes are no JSON, which no client takes for a list of tools.
 */
export function filterTools(body: Buffer, tools: EffectiveTools): Buffer | null {
  const cuts: ByteRange[] = []
  const start = skipStart(body)
  const end =
    body[start] === OPEN_ARRAY
      ? walkElements(body, start, (at) => readMessage(body, at, tools, cuts))
      : readMessage(body, start, tools, cuts)
  return end < 0 || cuts.length === 0 ? null : cutRanges(body, cuts)
}

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
