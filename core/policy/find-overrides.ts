import type { Header } from './header.ts'
import { findFormOverrides } from './find-form-overrides.ts'
import { mayNameField, noteField, overrideField } from './override-field.ts'
import {
  type AddressOverride,
  type FoundOverrides,
  isEmpty,
  NO_OVERRIDES,
  OVERRIDES_LIMIT,
  type Overrides,
} from './overrides.ts'
import { plainHeaderName } from './plain-header-name.ts'

/** Headers that servers, frameworks and gateways take an address from, in their plain form. */
const ADDRESS_HEADERS: ReadonlyMap<string, AddressOverride['kind']> = new Map([
  ['path-info', 'url'],
  ['request-uri', 'url'],
  ['request-url', 'url'],
  ['unencoded-url', 'url'],
  ['x-http-destination-url', 'url'],
  ['x-http-destinationurl', 'url'],
  ['x-original-path', 'url'],
  ['x-original-request-uri', 'url'],
  ['x-original-uri', 'url'],
  ['x-original-url', 'url'],
  ['x-override-path', 'url'],
  ['x-override-uri', 'url'],
  ['x-override-url', 'url'],
  ['x-path-info', 'url'],
  ['x-proxy-url', 'url'],
  ['x-real-url', 'url'],
  ['x-request-uri', 'url'],
  ['x-request-url', 'url'],
  ['x-rewrite-path', 'url'],
  ['x-rewrite-uri', 'url'],
  ['x-rewrite-url', 'url'],
  ['x-host', 'host'],
  ['x-host-override', 'host'],
  ['x-http-host', 'host'],
  ['x-http-host-override', 'host'],
  ['x-original-host', 'host'],
  ['x-override-host', 'host'],
  ['x-real-host', 'host'],
  ['x-rewrite-host', 'host'],
  // WSGI servers and a common middleware of Flask cut this off the path.
  ['script-name', 'prefix'],
  ['x-script-name', 'prefix'],
])
/** WebDAV writes to the address in this header, with these methods alone. */
const DESTINATION = 'destination'
const DESTINATION_METHODS: readonly string[] = ['COPY', 'MOVE']

/** Looks at the headers and the query; `findBodyOverrides` looks at a body. */
export function findOverrides(headers: readonly Header[], raw_query: string | null): Overrides {
  let found: FoundOverrides | null = null
  for (const { name, value } of headers) {
    if (!mayOverride(name)) continue
    const plain = plainHeaderName(name)
    const kind = ADDRESS_HEADERS.get(plain) ?? destinationKind(plain, headers)
    const field = kind === null && NAMES_METHOD.test(plain) ? overrideField(plain) : null
    if (kind === null && (field === null || field === 'path')) continue
    found ??= { methods: [], addresses: [] }
    if (kind !== null)
      for (const text of spellings(value)) found.addresses.push({ kind, value: text })
    else if (field !== null)
      for (const text of value.split(',', OVERRIDES_LIMIT + 1)) noteField(found, field, text)
  }
  if (raw_query !== null && mayNameField(raw_query)) {
    found ??= { methods: [], addresses: [] }
    findFormOverrides(raw_query, found)
  }
  return found === null || isEmpty(found) ? NO_OVERRIDES : found
}

const NAMES_METHOD = /method|verb/
/** The first letters of the names that are looked for; most headers of an ordinary call end here. */
const INITIALS: ReadonlySet<number> = new Set(Buffer.from('dhmoprsuvx'))
/** `host` and `user-agent` are on nearly every call. */
const ORDINARY: ReadonlySet<string> = new Set(['host', 'user-agent', 'x-request-id'])

function mayOverride(name: string): boolean {
  const first = name.charCodeAt(0)
  if (first === 0x3a) return false
  const isLetter = first >= 0x61 && first <= 0x7a
  return (!isLetter || INITIALS.has(first)) && !ORDINARY.has(name)
}

function destinationKind(
  plain: string,
  headers: readonly Header[],
): AddressOverride['kind'] | null {
  if (plain !== DESTINATION) return null
  const method = headers.find(({ name }) => name === ':method')?.value.toUpperCase() ?? ''
  return DESTINATION_METHODS.includes(method) ? 'url' : null
}

/** Several lines may have been joined by a comma, which a URL may hold as well: both readings count. */
const spellings = (value: string): readonly string[] =>
  value.includes(',') ? [value, ...value.split(',', OVERRIDES_LIMIT + 1)] : [value]
