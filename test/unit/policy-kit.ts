import assert from 'node:assert/strict'
import { parseTarget, type Target } from '../../core/request/parse-target.ts'
import {
  type Agent,
  type Integration,
  SCOPE_DEFAULTS,
  type Scope,
} from '../../core/catalogue/model.ts'

export function targetOf(url: string): Target {
  const parsed = parseTarget(`/${Buffer.from(url, 'utf8').toString('latin1')}`)
  assert.ok(parsed.ok, `${url}: ${parsed.ok ? '' : parsed.reason}`)
  return parsed.target
}

export function anIntegration(base_url: string, change: Partial<Integration> = {}): Integration {
  return {
    integration_id: `int_${base_url}`,
    organization_id: 'org_default',
    name: base_url,
    base_url,
    strip_agent_id: true,
    allow_empty_segments: false,
    auth: { type: 'none' },
    created_at: '2026-01-01T00:00:00.000Z',
    ...change,
  }
}

export function aScope(change: Partial<Scope> = {}): Scope {
  const scope_id = change.scope_id ?? `scp_${change.name ?? 'a'}`
  return {
    ...SCOPE_DEFAULTS,
    scope_id,
    organization_id: 'org_default',
    name: 'a',
    agent_id: 'agt_a',
    integration_id: 'int_a',
    rules: [{ methods: ['*'], paths: ['/**'] }],
    created_at: '2026-01-01T00:00:00.000Z',
    ...change,
  }
}

export function anAgent(change: Partial<Agent> = {}): Agent {
  return {
    agent_id: 'agt_a',
    agent_name: 'a',
    organization_id: 'org_default',
    status: 'active',
    revision: 0,
    created_at: '2026-01-01T00:00:00.000Z',
    killed_at: null,
    kill_reason: null,
    metadata: {},
    ...change,
  }
}
