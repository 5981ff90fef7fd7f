import {
  type Batch,
  type BatchList,
  type BatchPart,
  BATCH_PARTS_MAX,
  type NamedValue,
  partCount,
  PART_URL_MAX,
} from '../request/batch.ts'
import type { CompiledIntegration, IntegrationTable } from './compile-integrations.ts'
import { coverTarget } from './cover-target.ts'
import { encodeSegment } from '../request/encode-segment.ts'
import { findOverrides } from '../request/find-overrides.ts'
import { findPathOverrides } from '../request/find-path-overrides.ts'
import { joinOverrides } from '../request/overrides.ts'
import { parseTarget, type Target } from '../request/parse-target.ts'
import { resolveAddress } from './resolve-address.ts'

/** A call that an API may execute instead of or beside the requested one. */
export interface WantedCall {
  readonly method: string
  readonly target: Target
  /** The header, parameter or member that names the method; null if it is the method of the call itself. */
  readonly method_name: string | null
  readonly address_name: string | null
}

export interface BatchProblem {
  readonly name: string
  /** `unread` is allowed by `allow_batches`; `elsewhere` leads to another integration or host. */
  readonly kind: 'unread' | 'elsewhere'
}

interface AskedCall {
  readonly method: string
  readonly target: Target
  readonly integration: CompiledIntegration
}

/** Of all parts with all their methods and addresses. */
const CALLS_MAX = 2_048
/** References to the result of another part, and templates: `@{a.id}`, `{result=a:$.id}`, `$1/orders`. */
const REFERENCE = /[{}]|@\{|\/\$\d/
const REFERENCE_FIRST = /^\/?\$(?!metadata|batch|all|entity|crossjoin|count|value|ref)[^/]/
const ABSOLUTE = /^(?:[a-z][a-z0-9+.-]*:|\/\/)/i

/**
 * The calls of a batch, each of which the governing scope must allow, and what is wrong with it.
 * @param isUnreadAllowed whether what cannot be read is left to the API
 */
export function callsOfBatch(
  batch: Batch,
  asked: AskedCall,
  table: IntegrationTable,
  isUnreadAllowed: boolean,
): { readonly calls: readonly WantedCall[] } | BatchProblem {
  if (batch.unread !== null && !isUnreadAllowed) return { kind: 'unread', name: batch.unread }
  if (partCount(batch) > BATCH_PARTS_MAX && !isUnreadAllowed)
    return { kind: 'unread', name: batch.lists[0]?.parts[0]?.place ?? '' }
  const calls: WantedCall[] = []
  for (const list of batch.lists) {
    if (describesOtherHosts(list, asked, table)) continue
    for (const part of list.parts) {
      const problem = addCalls(calls, part, batch.defaults, asked, table)
      if (problem === null || (problem.kind === 'unread' && isUnreadAllowed)) continue
      return problem
    }
  }
  return { calls }
}

/** A list of methods and URLs of other hosts, in which no part is for this API: what a monitor, a workflow or a log has. */
const describesOtherHosts = (list: BatchList, asked: AskedCall, table: IntegrationTable): boolean =>
  !list.is_certain &&
  list.parts.every(
    ({ addresses }) =>
      addresses.length > 0 &&
      addresses.every(({ value }) => resolve(value.trim(), asked, table) === 'other_host'),
  )

function addCalls(
  calls: WantedCall[],
  part: BatchPart,
  defaults: readonly NamedValue[],
  asked: AskedCall,
  table: IntegrationTable,
): BatchProblem | null {
  const { place, addresses, hosts, unread } = part
  if (unread !== null) return { kind: 'unread', name: named(place, unread) }
  const targets: { readonly target: Target; readonly name: string }[] = []
  const methods = part.methods.map(({ value, name }) => ({ value, name: named(place, name) }))
  for (const { value, name: member } of addresses) {
    const name = named(place, member)
    const found = resolve(value.trim(), asked, table)
    if (found === 'unread') return { kind: 'unread', name }
    if (found === 'elsewhere' || found === 'other_host') return { kind: 'elsewhere', name }
    for (const target of found) {
      targets.push({ target, name })
      const { methods: said, addresses: there } = joinOverrides(
        findOverrides([], target.raw_query),
        findPathOverrides(target.segments),
      )
      for (const text of said) methods.push({ value: text, name })
      for (const address of there) {
        const other = resolveAddress(address, { ...asked, target }, table)
        if (other === null) return { kind: 'elsewhere', name }
        targets.push({ target: other, name })
      }
      for (const { value: host, name: header } of hosts)
        if (resolveAddress({ kind: 'host', value: host }, { ...asked, target }, table) === null)
          return { kind: 'elsewhere', name: named(place, header) }
    }
  }
  if (targets.length === 0) return { kind: 'unread', name: place }
  if (methods.length === 0) {
    for (const value of [asked.method, 'GET']) methods.push({ value, name: place })
    methods.push(...defaults)
  }
  // A part that is the batch endpoint itself has parts of its own, in a form that may not have been read.
  if (targets.some(({ target }) => isSamePath(target, asked.target)))
    return { kind: 'unread', name: named(place, addresses[0]?.name ?? '') }
  if (calls.length + targets.length * methods.length > CALLS_MAX)
    return { kind: 'unread', name: place }
  for (const { target, name } of targets)
    for (const { value, name: method_name } of methods) {
      const method = value.trim().toUpperCase()
      if (method !== '') calls.push({ method, target, method_name, address_name: name })
    }
  return null
}

const named = (place: string, member: string): string =>
  member === '' ? place : place === '' ? member : `${place}.${member}`

const isSamePath = (a: Target, b: Target): boolean =>
  a.segments.length === b.segments.length && a.segments.every((text, i) => text === b.segments[i])

type Resolved = readonly Target[] | 'unread' | 'elsewhere' | 'other_host'

/** Every target that the API may call at this address; `other_host` if it is one that no API would call as part of a batch. */
function resolve(value: string, asked: AskedCall, table: IntegrationTable): Resolved {
  if (value === '' || value.startsWith('?') || value.length > PART_URL_MAX) return 'unread'
  if (REFERENCE.test(value) || REFERENCE_FIRST.test(value)) return 'unread'
  const { integration, target } = asked
  if (ABSOLUTE.test(value)) return resolveAbsolute(value, asked, table)
  const { base } = integration
  if (value.startsWith('/')) {
    const atRoot = placed(`${target.origin}${value}`, integration, table)
    return atRoot === 'nobody'
      ? only(placed(`${base.base_url}${value}`, integration, table))
      : only(atRoot)
  }
  const last = base.segments.at(-1)
  const parent = base.base_url.slice(0, base.base_url.lastIndexOf('/'))
  if (last !== undefined && value.split(/[/?]/, 1)[0] === last) {
    const beside = placed(`${parent}/${value}`, integration, table)
    if (typeof beside !== 'string') return [beside]
  }
  const own = target.segments
  const folder = own.slice(0, Math.max(base.segments.length, own.length - 1))
  const isRelative = own.at(-1)?.toLowerCase() === '$batch'
  const places = new Set([
    `${target.origin}${folder.map((segment) => `/${encodeSegment(segment)}`).join('')}/${value}`,
    ...(isRelative ? [] : [`${base.base_url}/${value}`]),
  ])
  const found: Target[] = []
  for (const url of places) {
    const one = placed(url, integration, table)
    if (typeof one === 'string') return 'elsewhere'
    found.push(one)
  }
  return found
}

const only = (found: Target | 'nobody' | 'elsewhere'): Resolved =>
  typeof found === 'string' ? 'elsewhere' : [found]

function resolveAbsolute(
  value: string,
  { integration, target }: AskedCall,
  table: IntegrationTable,
): Resolved {
  const url = value.startsWith('//') ? `${target.scheme}:${value}` : value
  const { origin } = target
  const start = url.slice(0, origin.length).toLowerCase()
  const parsed = parseTarget(`/${latin1(url)}`)
  if (!parsed.ok) return start === origin ? 'elsewhere' : 'other_host'
  if (parsed.target.origin !== origin) return 'other_host'
  return only(placed(url, integration, table))
}

function placed(
  url: string,
  integration: CompiledIntegration,
  table: IntegrationTable,
): Target | 'nobody' | 'elsewhere' {
  const parsed = parseTarget(`/${latin1(url)}`)
  if (!parsed.ok) return 'elsewhere'
  const covered = coverTarget(table, parsed.target)
  if (covered.kind === 'covered')
    return covered.integration === integration ? parsed.target : 'elsewhere'
  return covered.reason === 'integration_not_found' ? 'nobody' : 'elsewhere'
}

const latin1 = (text: string): string => Buffer.from(text, 'utf8').toString('latin1')
