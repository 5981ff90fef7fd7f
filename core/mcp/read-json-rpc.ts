import { findToolUses } from './find-tool-uses.ts'
import { foldMemberName } from './fold-member-name.ts'
import { foldMethod } from './fold-method.ts'
import { MirroredParams } from './mirrored-params.ts'
import type { McpHeaders } from './read-mcp-headers.ts'
import { readString, skipSpace, skipStart } from '../request/json-lexis.ts'
import { skipValue, walkElements, walkMembers } from '../request/walk-json.ts'

export interface JsonRpcMessage {
  /** JSON text of the id, to be repeated in a response; null for a notification. */
  readonly id: string | null
  readonly method: string | null
  readonly is_tool_call: boolean
  /** The tool that a call names; null if the name is not a string. */
  readonly tool: string | null
  /** Tools that a client's response to a sampling request asks for; null for a name that is not a string. */
  readonly uses: readonly (string | null)[]
}

export type JsonRpcBody =
  | { readonly kind: 'single' | 'batch'; readonly messages: readonly JsonRpcMessage[] }
  /** Well-formed JSON that is not JSON-RPC, an empty body, or something that no reader accepts as JSON. */
  | { readonly kind: 'other' }
  /** A relevant member occurs twice. */
  | { readonly kind: 'ambiguous'; readonly member: string }
  /** A header that mirrors the body differs from it. */
  | { readonly kind: 'mismatch'; readonly header: string; readonly id: string | null }
  /** A lenient reader might find JSON here although the strict one does not: refused if tools are restricted. */
  | { readonly kind: 'unreadable' }

const OTHER: JsonRpcBody = { kind: 'other' }
const UNREADABLE: JsonRpcBody = { kind: 'unreadable' }
/** Batches have few tool calls; bounds the number of responses in a refusal. */
const MESSAGES_LIMIT = 1_000
/** A nested batch is not valid JSON-RPC; a server that unpacks it anyway stops at some depth. */
const NESTING_LIMIT = 8
/** As many as messages, for the same reason. */
const USES_LIMIT = 1_000
/** An id is repeated in each response. */
const ID_LIMIT_BYTES = 1_024
/** `jsonrpc` comes first: it makes an object a message. */
const DECIDING: readonly string[] = ['jsonrpc', 'id', 'method', 'params']
const TOOL_CALL = 'tools/call'
const QUOTE = 0x22
const OPEN_ARRAY = 0x5b
const OPEN_OBJECT = 0x7b

/**
 * The parts of a body that tool permissions depend on, whatever its Content-Type. Member names are compared after unescaping
 * and without case, because Go's standard reader reads `Method` as `method`. @param headers of the MCP call, each of which must
 * match every message
 */
export function readJsonRpc(body: Buffer, headers: McpHeaders | null = null): JsonRpcBody {
  const read = readMessages(body, headers)
  const isMessage = read.kind === 'single' || read.kind === 'batch' || read.kind === 'ambiguous'
  if (headers === null || !headers.mirrors || isMessage || read.kind === 'mismatch') return read
  const header = headers.method === null ? 'mcp-name' : 'mcp-method'
  return { kind: 'mismatch', header, id: null }
}

function readMessages(body: Buffer, headers: McpHeaders | null): JsonRpcBody {
  const start = skipStart(body)
  if (body[start] !== OPEN_OBJECT && body[start] !== OPEN_ARRAY) return readNonJson(body, start)
  const messages: JsonRpcMessage[] = []
  let ambiguous: string | null = null
  let mismatch: string | null = null
  let isOver = false
  const take = (at: number, depth: number): number => {
    if (body[at] === OPEN_ARRAY && depth < NESTING_LIMIT)
      return walkElements(body, at, (element) => take(element, depth + 1))
    isOver ||= body[at] === OPEN_ARRAY
    if (body[at] !== OPEN_OBJECT) return skipValue(body, at)
    const message = new MessageReader(body, headers)
    const end = message.read(at)
    if (end < 0 || !message.isJsonRpc) return end
    ambiguous ??= message.duplicate
    mismatch ??= message.mismatch
    isOver ||= messages.length >= MESSAGES_LIMIT || message.isOver
    if (!isOver) messages.push(message.result())
    return end
  }
  const isBatch = body[start] === OPEN_ARRAY
  const end = take(start, 0)
  if (end < 0 || skipSpace(body, end) !== body.length) return UNREADABLE
  if (ambiguous !== null) return { kind: 'ambiguous', member: ambiguous }
  if (mismatch !== null)
    return { kind: 'mismatch', header: mismatch, id: isBatch ? null : (messages[0]?.id ?? null) }
  if (isOver) return UNREADABLE
  return messages.length === 0 ? OTHER : { kind: isBatch ? 'batch' : 'single', messages }
}

/**
 * UTF-16 and UTF-32 have NUL bytes or a byte-order mark, JSON5 may begin with a comment or unusual white space, and a reader of
 * one value per line continues after the first. Some readers also accept YAML, a script, or a prefix that prevents inclusion as
 * a script, so no other body may contain the method.
 */
function readNonJson(body: Buffer, start: number): JsonRpcBody {
  const first = body[start]
  if (first === undefined) return OTHER
  const isWide = body.subarray(0, 4).includes(0) || first === 0xfe || first === 0xff
  const isLenient =
    first === 0x2f || first === 0x23 || first < 0x20 || first === 0xc2 || first === 0xef
  const isSpace = first >= 0xe1 && /^\s/.test(body.toString('utf8', start, start + 3))
  const isOther = !isWide && !isLenient && !isSpace && !isSequence(body, start)
  return isOther && !mayNameCall(body) ? OTHER : UNREADABLE
}

/** The slash may be escaped; `\u{002f}` is the longest form. */
const CALL_WORDS = /tools.{1,8}call/is

const mayNameCall = (body: Buffer): boolean =>
  body.includes('ools') && CALL_WORDS.test(body.toString('latin1'))

function isSequence(body: Buffer, start: number): boolean {
  for (let at = start; ; ) {
    const end = skipValue(body, at)
    if (end < 0) return false
    at = skipSpace(body, end)
    if (body[at] === OPEN_OBJECT || body[at] === OPEN_ARRAY) return true
    // A number directly after a number is not a second value, and would be read as one endlessly.
    if (at === end) return false
  }
}

/** Reads one object and records which relevant members it has, and which of them twice. */
class MessageReader {
  readonly #body: Buffer
  readonly #mirrored: MirroredParams | null
  /** One bit per relevant member. */
  #seen = 0
  #duplicate: string | null = null
  #duplicateName = false
  #id: string | null = null
  #method: string | null = null
  #tool: string | null = null
  #callsTool = false
  readonly #uses: (string | null)[] = []
  #hasOverlongId = false

  constructor(body: Buffer, headers: McpHeaders | null) {
    this.#body = body
    this.#mirrored = headers === null ? null : new MirroredParams(body, headers)
  }

  get isJsonRpc(): boolean {
    return this.#callsTool || (this.#seen & 1) !== 0
  }

  /** More messages than are checked, or an id that is too long to repeat. */
  get isOver(): boolean {
    return this.#hasOverlongId || this.#uses.length > USES_LIMIT
  }

  /** A duplicate member matters only in tool calls; other methods may have one. */
  get duplicate(): string | null {
    return this.#duplicate ?? (this.#callsTool && this.#duplicateName ? 'name' : null)
  }

  get mismatch(): string | null {
    return this.#mirrored?.mismatch(this.#method, this.#callsTool) ?? null
  }

  result(): JsonRpcMessage {
    const is_tool_call = this.#callsTool
    return {
      id: this.#id,
      method: this.#method,
      is_tool_call,
      tool: is_tool_call ? this.#tool : null,
      uses: this.#uses,
    }
  }

  /** Returns where the object ends, or -1 if it is not well-formed. */
  read(start: number): number {
    const body = this.#body
    return walkMembers(body, start, ({ key_start, key_end, value_start }) => {
      const key = foldMemberName(body, key_start, key_end)
      const place = DECIDING.indexOf(key)
      if (key === 'result') return this.#readUses(value_start)
      if (place === -1) return skipValue(body, value_start)
      if ((this.#seen & (1 << place)) !== 0) this.#duplicate ??= key
      this.#seen |= 1 << place
      if (key === 'params' && body[value_start] === OPEN_OBJECT)
        return this.#readParams(value_start)
      const value_end = skipValue(body, value_start)
      if (value_end < 0) return -1
      if (key === 'id') this.#takeId(value_start, value_end)
      if (key === 'method' && body[value_start] === QUOTE) {
        this.#method = readString(body, value_start, value_end)
        this.#callsTool ||= foldMethod(this.#method) === TOOL_CALL
      }
      return value_end
    })
  }

  #readParams(start: number): number {
    const body = this.#body
    let names = 0
    const end = walkMembers(body, start, ({ key_start, key_end, value_start }) => {
      const key = foldMemberName(body, key_start, key_end)
      if (key === 'inputresponses') return this.#readUses(value_start)
      const mirrored = MirroredParams.KEYS.includes(key) ? this.#mirrored : null
      const value_end = mirrored?.take(key, value_start) ?? skipValue(body, value_start)
      if (value_end < 0 || key !== 'name') return value_end
      names++
      if (body[value_start] === QUOTE) this.#tool = readString(body, value_start, value_end)
      return value_end
    })
    this.#duplicateName ||= names > 1
    return end
  }

  #readUses(start: number): number {
    return findToolUses(this.#body, start, (name) => {
      if (this.#uses.length <= USES_LIMIT) this.#uses.push(name)
    })
  }

  #takeId(start: number, end: number): void {
    if (end - start > ID_LIMIT_BYTES) this.#hasOverlongId = true
    else this.#id = this.#body.toString('utf8', start, end)
  }
}
