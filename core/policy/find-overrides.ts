import type { Header } from './header.ts'
import { plainHeaderName } from './plain-header-name.ts'
import { queryValues } from './query-parameter.ts'

/** What a request says besides its own method and address, for upstreams that believe it (threats.md 10). */
export interface Overrides {
  readonly methods: readonly string[]
  /** As written: a path, or an absolute URL. */
  readonly addresses: readonly string[]
}

/** No client sends more than one of each; past this the call is refused without looking at them. */
export const OVERRIDES_LIMIT = 8
export const NO_OVERRIDES: Overrides = { methods: [], addresses: [] }

const METHOD_HEADERS: readonly string[] = [
  'x-http-method',
  'x-http-method-override',
  'x-method-override',
]
const ADDRESS_HEADERS: readonly string[] = ['x-original-url', 'x-rewrite-url']

/** Looks at the headers and at `_method` in the query; `findBodyMethods` answers for a body. */
export function findOverrides(headers: readonly Header[], raw_query: string | null): Overrides {
  let found: { methods: string[]; addresses: string[] } | null = null
  for (const { name, value } of headers) {
    if (name.charCodeAt(0) !== 0x78) continue
    const plain = plainHeaderName(name)
    const isMethod = METHOD_HEADERS.includes(plain)
    if (!isMethod && !ADDRESS_HEADERS.includes(plain)) continue
    found ??= { methods: [], addresses: [] }
    if (isMethod) found.methods.push(...value.split(',', OVERRIDES_LIMIT + 1))
    else found.addresses.push(...spellings(value))
  }
  // Some frameworks separate at semicolons too.
  const inQuery = queryValues(raw_query?.replaceAll(';', '&') ?? null, '_method')
  if (inQuery.length > 0) {
    found ??= { methods: [], addresses: [] }
    for (const value of inQuery) found.methods.push(value)
  }
  return found ?? NO_OVERRIDES
}

/** Several lines may have been joined by a comma, which a URL may hold as well: both readings count. */
const spellings = (value: string): readonly string[] =>
  value.includes(',') ? [value, ...value.split(',', OVERRIDES_LIMIT + 1)] : [value]
