import { isIP } from 'node:net'
import { SCOPE_DEFAULTS, type Scope, type UnlistedHosts } from '../catalogue/model.ts'
import { knownUrl } from '../bounded/parse-url.ts'
import { isNamedHost } from './also-hosts.ts'
import { canonicalHost } from '../request/canonical-host.ts'
import {
  type CompiledIntegration,
  compileIntegration,
  type IntegrationTable,
  NO_AUTH,
} from './compile-integrations.ts'
import { type AgentScopes, compileScopes } from './compile-scopes.ts'
import type { Target } from '../request/parse-target.ts'

/** What is known of a call through the forward proxy; a call by base URL has no unlisted host. */
export interface UnlistedFacts {
  /** What the organization says for agents that do not say otherwise. */
  readonly by_default: UnlistedHosts
  /** Hosts that are never unlisted: those that are passed through unread, and the gateway itself. */
  readonly closed_hosts: ReadonlySet<string>
}

/** @param blind_hosts `host:port`, whose tunnels are passed through */
export function closedHosts(
  blind_hosts: readonly string[],
  proxy_url: string | null,
): ReadonlySet<string> {
  const gateway = proxy_url === null ? [] : [knownUrl(proxy_url).host]
  const names = [...blind_hosts.map((host) => host.toLowerCase()), ...gateway].map((text) => {
    const host = canonicalHost(text.replace(/:\d+$/, ''))
    return typeof host === 'string' ? host : text
  })
  return new Set(names)
}

/** By this id the calls of an agent to unlisted hosts are counted; no scope has it. */
const UNLISTED = 'unlisted_hosts'
const CREATED_AT = '1970-01-01T00:00:00.000Z'

/** A scope with the default settings that allows every method and path. */
const SCOPE: Scope = {
  ...SCOPE_DEFAULTS,
  scope_id: UNLISTED,
  name: UNLISTED,
  organization_id: '',
  agent_id: '',
  integration_id: '',
  rules: [{ methods: ['*'], paths: ['/**'] }],
  created_at: CREATED_AT,
}

/** The scopes of every agent for unlisted hosts. */
export const UNLISTED_SCOPES: AgentScopes = compileScopes([SCOPE])

/**
 * The host of a target as an integration without a credential and an id. Null if anything names the host, whatever scheme, port and
 * path are asked for, or if it is an address, which is a spelling of some host.
 */
export function unlistedIntegration(
  table: IntegrationTable,
  { scheme, host, port, origin }: Target,
  { closed_hosts }: UnlistedFacts,
): CompiledIntegration | null {
  const isAddress = host.startsWith('[') || isIP(host) > 0
  const isNamed =
    isNamedHost(table, host) || table.listed.of_tokens.has(host) || closed_hosts.has(host)
  if (isAddress || isNamed) return null
  const integration = {
    integration_id: '',
    organization_id: '',
    name: host,
    base_url: origin,
    strip_agent_id: true,
    allow_empty_segments: true,
    auth: NO_AUTH,
    created_at: CREATED_AT,
  }
  const base = { base_url: origin, scheme, host, port, origin, segments: [] }
  return { ...compileIntegration(integration, base), is_unlisted: true }
}
