import { readString } from '../request/json-lexis.ts'
import { skipValue, walkMembers } from '../request/walk-json.ts'
import { ArgumentHeaders } from './argument-headers.ts'
import { decodeHeaderValue } from './decode-header-value.ts'
import type { McpHeaders } from './read-mcp-headers.ts'

const QUOTE = 0x22
const OPEN_OBJECT = 0x7b
const PROTOCOL_VERSION = 'io.modelcontextprotocol/protocolVersion'
/** Every character escaped, and two quotes. */
const LONGEST_META_KEY_BYTES = PROTOCOL_VERSION.length * 6 + 2

/** The member of `params` that `Mcp-Name` mirrors, by method. Members are in lower case, as they are compared. */
const NAME_SOURCE: ReadonlyMap<string, string> = new Map([
  ['tools/call', 'name'],
  ['prompts/get', 'name'],
  ['resources/read', 'uri'],
  ['tasks/get', 'taskid'],
  ['tasks/update', 'taskid'],
  ['tasks/cancel', 'taskid'],
  ['tasks/result', 'taskid'],
])

/** Compares the `params` of one message with the headers that mirror parts of them. */
export class MirroredParams {
  /** Members of `params` that a header may mirror, in lower case. */
  static readonly KEYS: readonly string[] = ['name', 'uri', 'taskid', '_meta', 'arguments']
  readonly #body: Buffer
  readonly #headers: McpHeaders
  readonly #arguments: ArgumentHeaders
  /** Text by member; null for a value of another type and for a duplicate member. */
  readonly #named = new Map<string, string | null>()
  #versions: readonly string[] = []

  constructor(body: Buffer, headers: McpHeaders) {
    this.#body = body
    this.#headers = headers
    this.#arguments = new ArgumentHeaders(headers.params)
  }

  /** @param key one of `KEYS`; returns where its value ends, or -1 if it is not well-formed */
  take(key: string, start: number): number {
    const body = this.#body
    if (key === 'arguments') return this.#arguments.read(body, start)
    if (key === '_meta') return this.#takeVersion(start)
    const end = skipValue(body, start)
    if (end < 0) return -1
    const isOneText = body[start] === QUOTE && !this.#named.has(key)
    this.#named.set(key, isOneText ? readString(body, start, end) : null)
    return end
  }

  /** The header that differs from the message; null if all match. */
  mismatch(method: string | null, isToolCall: boolean): string | null {
    const { version, method: claimed, name, params } = this.#headers
    if (claimed !== null && claimed !== method) return 'mcp-method'
    if (version !== null && this.#versions.some((one) => one !== version))
      return 'mcp-protocol-version'
    if (name !== null && !this.#isNamed(method, decodeHeaderValue(name))) return 'mcp-name'
    if (isToolCall) return this.#arguments.unmatched
    const [first] = params.keys()
    return first ?? null
  }

  /** For an unknown method, any member may be the mirrored one. */
  #isNamed(method: string | null, name: string | null): boolean {
    if (name === null) return false
    const source = NAME_SOURCE.get(method ?? '')
    if (source !== undefined) return this.#named.get(source) === name
    return this.#named.size === 0 || [...this.#named.values()].includes(name)
  }

  #takeVersion(start: number): number {
    const body = this.#body
    if (body[start] !== OPEN_OBJECT) return skipValue(body, start)
    return walkMembers(body, start, ({ key_start, key_end, value_start }) => {
      const end = skipValue(body, value_start)
      const isVersion =
        end >= 0 &&
        key_end - key_start <= LONGEST_META_KEY_BYTES &&
        readString(body, key_start, key_end) === PROTOCOL_VERSION
      if (isVersion)
        this.#versions = [
          ...this.#versions.slice(0, 1),
          body[value_start] === QUOTE ? readString(body, value_start, end) : '',
        ]
      return end
    })
  }
}
