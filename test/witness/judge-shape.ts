import type { Header } from '../../core/request/header.ts'
import { readBody } from '../../core/inspection/read-body.ts'
import { compileIntegrations } from '../../core/decision/compile-integrations.ts'
import { compileScopes } from '../../core/decision/compile-scopes.ts'
import { coverTarget } from '../../core/decision/cover-target.ts'
import { decideScope } from '../../core/decision/decide-scope.ts'
import { HEADER_TABLE } from '../../core/catalogue/header-table.ts'
import { plainHeaderName } from '../../core/request/plain-header-name.ts'
import { findOverrides } from '../../core/request/find-overrides.ts'
import { mayBodyOverride } from '../../core/decision/may-body-override.ts'
import { joinOverrides } from '../../core/request/overrides.ts'
import { parseTarget } from '../../core/request/parse-target.ts'
import { SearchBudget } from '../../core/scanner/text/search-budget.ts'
import { readHead } from '../../ext-proc/call/read-head.ts'
import { aScope, anIntegration } from '../unit/policy-kit.ts'
import type { OverrideShape } from './override-shapes.ts'
import type { SeenCall } from './send-shape.ts'

const TABLE = compileIntegrations([anIntegration('http://x', { integration_id: 'int_a' })])

const ADDRESSES: readonly string[] = HEADER_TABLE.address.names

const compiled = new Map<string, ReturnType<typeof compileScopes>>()

/** Of an agent that may only do `method` on one item. */
function scopesFor(method: string): ReturnType<typeof compileScopes> {
  const known = compiled.get(method)
  if (known !== undefined) return known
  const scopes = compileScopes([aScope({ rules: [{ methods: [method], paths: ['/items/*'] }] })])
  compiled.set(method, scopes)
  return scopes
}

/**
 * What the gateway answers where the agent may only do `method` on one item, and nothing is scanned; `dropped` if the API does not
 * get a header of the shape.
 */
export function judgeShape(shape: OverrideShape): 'allowed' | 'refused' | 'dropped' {
  const { method, target: path, body } = shape
  if (shape.headers.some(([name]) => ADDRESSES.includes(plainHeaderName(name)))) return 'dropped'
  const scopes = scopesFor(method)
  const headers: Header[] = [
    { name: ':method', value: method },
    { name: ':path', value: `/http://x${path}` },
    // Envoy lower-cases names and trims values.
    ...shape.headers.map(([name, value]) => ({ name: name.toLowerCase(), value: value.trim() })),
  ]
  const head = readHead(headers)
  const parsed = parseTarget(head.path)
  if (!parsed.ok) return 'refused'
  const covered = coverTarget(TABLE, parsed.target)
  if (covered.kind === 'refused') return 'refused'
  const asked = { method, target: parsed.target, integration: covered.integration }
  const inHead = findOverrides(headers, parsed.target.raw_query)
  const decision = decideScope(scopes, TABLE, asked, inHead)
  if (decision.kind === 'denied') return 'refused'
  const there = scopes.by_integration.get('int_a')
  if (body === '' || there === undefined) return 'allowed'
  if (!mayBodyOverride(there, decision.scope, head.content_type, true, false)) return 'allowed'
  const { facts } = readBody(
    Buffer.from(body, 'latin1'),
    {
      content_type: head.content_type,
      content_encoding: head.content_encoding,
      limit_bytes: 8_388_608,
      identity: null,
      asks_overrides: true,
      keeps_body: true,
      json_rpc: null,
      scan: null,
    },
    null,
    new SearchBudget(),
  )
  const again = decideScope(scopes, TABLE, asked, joinOverrides(inHead, facts.overrides))
  return again.kind === 'denied' ? 'refused' : 'allowed'
}

/** Whether a server took the shape for a call that the scope of `judgeShape` does not allow. */
export const isOutside = ({ method }: OverrideShape, seen: SeenCall): boolean =>
  seen !== null && (seen.method !== method || !/^\/items\/[^/]+\/?$/.test(seen.path))
