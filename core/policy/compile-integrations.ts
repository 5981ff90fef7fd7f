import type { Integration } from '../model.ts'
import { type OwnedName, ownedName } from './owned-name.ts'
import { type BaseUrl, parseBaseUrl } from './parse-base-url.ts'

export interface CompiledIntegration {
  readonly integration: Integration
  readonly base: BaseUrl
  readonly owned: OwnedName
}

/** By origin, then one level a decoded segment of the base URL. */
export type IntegrationTable = ReadonlyMap<string, IntegrationNode>

export interface IntegrationNode {
  readonly integration: CompiledIntegration | null
  readonly children: ReadonlyMap<string, IntegrationNode>
}

interface GrowingNode {
  integration: CompiledIntegration | null
  readonly children: Map<string, GrowingNode>
}

/**
 * One whole value, made once a change and swapped. Of two with one base URL, which admin refuses to store, the
 * older stays; one whose stored base URL does not parse covers nothing.
 */
export function compileIntegrations(integrations: Iterable<Integration>): IntegrationTable {
  const table = new Map<string, GrowingNode>()
  for (const integration of integrations) {
    const parsed = parseBaseUrl(integration.base_url)
    if (!parsed.ok) continue
    const { base } = parsed
    const compiled = { integration, base, owned: ownedName(integration.auth) }
    let node = childOf(table, base.origin)
    for (const segment of base.segments) node = childOf(node.children, segment)
    if (node.integration === null || isOlder(integration, node.integration.integration))
      node.integration = compiled
  }
  return table
}

function childOf(children: Map<string, GrowingNode>, name: string): GrowingNode {
  const known = children.get(name)
  if (known !== undefined) return known
  const made: GrowingNode = { integration: null, children: new Map() }
  children.set(name, made)
  return made
}

const isOlder = (a: Integration, b: Integration): boolean =>
  a.created_at < b.created_at ||
  (a.created_at === b.created_at && a.integration_id < b.integration_id)
