import { HEADER_TABLE } from '../catalogue/header-table.ts'
import type { Header } from './header.ts'
import { findFormOverrides } from './find-form-overrides.ts'
import { mayNameField, noteField, overrideField } from './override-field.ts'
import {
  type AddressOverride,
  type FoundOverrides,
  isEmpty,
  NO_OVERRIDES,
  noneFound,
  OVERRIDES_LIMIT,
  type Overrides,
} from './overrides.ts'
import { perHeaderName } from './per-header-name.ts'
import { plainHeaderName } from './plain-header-name.ts'

/** From these, servers, frameworks and gateways read an address. Those of a call are dropped; those of a part of a batch are not. */
const ADDRESS_HEADERS: ReadonlySet<string> = new Set(HEADER_TABLE.address.names)

function addressKind(plain: string): AddressOverride['kind'] {
  if (/host(?:-override)?$/.test(plain)) return 'host'
  // WSGI servers and a common Flask middleware remove this prefix from the path.
  return plain.endsWith('script-name') ? 'prefix' : 'url'
}

/** WebDAV writes to the address in this header, with these methods only. */
const DESTINATION = 'destination'
const DESTINATION_METHODS: readonly string[] = ['COPY', 'MOVE']

/** Looks at the headers and the query; `findBodyOverrides` looks at a body. */
export function findOverrides(headers: readonly Header[], raw_query: string | null): Overrides {
  let found: FoundOverrides | null = null
  for (const { name, value } of headers) {
    const role = roleOf(name)
    if (role === null || (role.kind === 'destination' && !isToDestination(headers))) continue
    found ??= noneFound()
    if (role.kind === 'method')
      for (const text of value.split(',', OVERRIDES_LIMIT + 1))
        noteField(found, role.field, text, name)
    else {
      const kind = role.kind === 'destination' ? 'url' : role.kind
      for (const text of spellings(value)) {
        found.addresses.push({ kind, value: text })
        if (!found.names.has(text)) found.names.set(text, name)
      }
    }
  }
  if (raw_query !== null && mayNameField(raw_query)) {
    found ??= noneFound()
    findFormOverrides(raw_query, found)
  }
  return found === null || isEmpty(found) ? NO_OVERRIDES : found
}

const NAMES_METHOD = /method|verb/
/** The first letters of the names. */
const INITIALS: ReadonlySet<number> = new Set(Buffer.from('dhmoprsuvwx'))

/** How a header with this name changes the request. */
type Role =
  | { readonly kind: AddressOverride['kind'] | 'destination' }
  | { readonly kind: 'method'; readonly field: 'method' | 'maybe_method' }

const roleOf = perHeaderName((name): Role | null => {
  const first = name.charCodeAt(0)
  const isLetter = first >= 0x61 && first <= 0x7a
  if (first === 0x3a || (isLetter && !INITIALS.has(first))) return null
  const plain = plainHeaderName(name)
  if (plain === DESTINATION) return { kind: 'destination' }
  if (ADDRESS_HEADERS.has(plain)) return { kind: addressKind(plain) }
  const field = NAMES_METHOD.test(plain) ? overrideField(plain) : null
  return field === null || field === 'path' ? null : { kind: 'method', field }
})

function isToDestination(headers: readonly Header[]): boolean {
  const method = headers.find(({ name }) => name === ':method')?.value.toUpperCase() ?? ''
  return DESTINATION_METHODS.includes(method)
}

/** Several lines may have been joined by a comma, but a URL may contain one too: both readings count. */
const spellings = (value: string): readonly string[] =>
  value.includes(',') ? [value, ...value.split(',', OVERRIDES_LIMIT + 1)] : [value]
