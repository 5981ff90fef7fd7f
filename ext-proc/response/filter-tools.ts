import { foldMemberName } from '../../core/mcp/fold-member-name.ts'
import { type EffectiveTools, isToolAllowed } from '../../core/mcp/check-mcp-tool.ts'
import { beginsLikeJson } from '../../core/scanner/format/begins-like-json.ts'
import { type ByteEdit, editBytes } from '../../core/request/edit-bytes.ts'
import { readString, skipSpace, skipStart } from '../../core/request/json-lexis.ts'
import { skipValue, walkElements, walkMembers } from '../../core/request/walk-json.ts'

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

/** How revision 2026-07-28 says that a result may be kept for others, and what it says of one that may not. */
const PUBLIC = 'public'
const PRIVATE = '"private"'

/**
 * A JSON-RPC answer, a batch of them, or several one after the other, without the tools that the agent may not call.
 * A list that is cut for one agent is marked private, so that no cache gives it to another. Every other byte stays.
 */
export function filterTools(body: Buffer, tools: EffectiveTools): FilteredTools {
  const edits: ByteEdit[] = []
  for (let at = skipStart(body); at < body.length; ) {
    const end =
      body[at] === OPEN_ARRAY
        ? walkElements(body, at, (element) => readMessage(body, element, tools, edits))
        : readMessage(body, at, tools, edits)
    if (end < 0) return mayHoldTools(body) ? { kind: 'unreadable' } : UNCHANGED
    at = skipSpace(body, end)
  }
  return edits.length === 0 ? UNCHANGED : { kind: 'filtered', body: editBytes(body, edits) }
}

/** Also where the name is escaped, or in UTF-16. A page of HTML is no list, whatever it tells of tools. */
export const mayHoldTools = (body: Buffer): boolean =>
  beginsLikeJson(body) && (body.includes('tools') || body.includes('\\u') || body.includes(0))

/** Answers where the value ends, -1 when it is not well-formed. */
function readMessage(
  body: Buffer,
  start: number,
  tools: EffectiveTools,
  edits: ByteEdit[],
): number {
  return eachMember(body, start, (name, at) =>
    name === 'result' ? readResult(body, at, tools, edits) : skipValue(body, at),
  )
}

function readResult(body: Buffer, start: number, tools: EffectiveTools, edits: ByteEdit[]): number {
  const scopes: ByteEdit[] = []
  const cuts: ByteEdit[] = []
  let isList = false
  const end = eachMember(body, start, (name, at) => {
    if (name === 'tools') {
      isList = true
      return readList(body, at, tools, cuts)
    }
    const stop = skipValue(body, at)
    const isPublic =
      name === 'cachescope' &&
      stop >= 0 &&
      body[at] === QUOTE &&
      readString(body, at, stop) === PUBLIC
    if (isPublic) scopes.push({ start: at, end: stop, text: PRIVATE })
    return stop
  })
  if (isList)
    for (const edit of [...cuts, ...scopes].sort((a, b) => a.start - b.start)) edits.push(edit)
  return end
}

/** Every member, also one whose name came before: of two, readers differ in which one they take. */
function eachMember(
  body: Buffer,
  start: number,
  onMember: (name: string, at: number) => number,
): number {
  if (body[start] !== OPEN_OBJECT) return skipValue(body, start)
  return walkMembers(body, start, ({ key_start, key_end, value_start }) =>
    onMember(foldMemberName(body, key_start, key_end), value_start),
  )
}

/** Cuts each blocked tool with one comma: the one before it, or behind it as long as no tool is kept before. */
function readList(body: Buffer, start: number, tools: EffectiveTools, cuts: ByteEdit[]): number {
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
    if (stop >= 0 && foldMemberName(body, key_start, key_end) === 'name') {
      names++
      name = body[value_start] === QUOTE ? readString(body, value_start, stop) : null
    }
    return stop
  })
  return names === 1 ? name : null
}
