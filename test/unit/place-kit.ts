import assert from 'node:assert/strict'
import type { Integration } from '../../core/catalogue/model.ts'
import { compileIntegrations } from '../../core/decision/compile-integrations.ts'
import { matchIntegration } from '../../core/decision/match-integration.ts'
import { parseTarget } from '../../core/request/parse-target.ts'
import type { GatewayAddress } from '../../ext-proc/response/gateway-address.ts'
import type { CallPlace } from '../../ext-proc/response/judge-reference.ts'
import { anIntegration } from './policy-kit.ts'

export const GATEWAY: GatewayAddress = {
  hosts: ['127.0.0.1'],
  ports: [8080, 8081],
  proxy_url: null,
}

/** A call of an organization that has these integrations, the first that of its API. */
export function aPlace(
  path: string,
  integrations: readonly Integration[] = [anIntegration('https://api.example.com/v1')],
  more: Partial<CallPlace> = {},
): CallPlace {
  const parsed = parseTarget(path)
  assert.ok(parsed.ok, path)
  const table = compileIntegrations(integrations)
  const { integration } = matchIntegration(table, parsed.target)
  assert.ok(integration !== null, path)
  return {
    target: parsed.target,
    base_url: integration.base.base_url,
    integration,
    integrations: table,
    mayCall: () => false,
    method: 'POST',
    is_proxied: false,
    path,
    called: { authority: 'gw.test:8080', scheme: 'http', forwarded_host: null },
    gateway: GATEWAY,
    ...more,
  }
}
