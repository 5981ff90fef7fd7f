import assert from 'node:assert/strict'
import { parse, stringify } from 'yaml'
import { checkEnvoyConfig } from '../../../cli/doctor/envoy/check-envoy.ts'
import { asParts, type Parts } from '../../../envoy/as-parts.ts'
import { call, closeConnections } from '../../kit/call.ts'
import { type CompanyApi, startCompanyApi } from '../../kit/company-calls.ts'
import type { CompanyPorts } from '../../kit/company-envoy.ts'
import { freePort } from '../../kit/free-port.ts'
import { mainJob } from '../../kit/main-job.ts'
import { type Access, STORED_CREDENTIAL } from '../../kit/operator.ts'
import type { KitEnvoy } from '../../kit/start-envoy.ts'
import { type Fleet, startFleet } from '../../kit/start-fleet.ts'
import { checkCompany } from './check-company.ts'

/** Envoy's messages and Kubernetes resources as they are parsed. */
type Json = any

export interface Rendering {
  readonly parts: Parts
  readonly port: number
  /** Of the processors, as `host:port` or `unix:/path`. */
  readonly ext_proc_addresses: readonly string[]
}

/** A control plane: what it makes of manifests, as the static configuration of an Envoy without `admin`. */
export interface ControlPlane {
  readonly name: string
  readonly render: (rendering: Rendering) => Json[]
  readonly translate: (manifests: readonly Json[]) => Json
  /** Manifests of a company's own gateway, with routes that answer `COMPANY_CALLS`. */
  readonly company: (ports: CompanyPorts) => readonly Json[]
  /** Whether the company's gateway and ours are one Envoy; otherwise `translate` makes the one whose manifests come last. */
  readonly sharesEnvoy: boolean
  /** Each makes of the manifests some that lack a part or name it wrongly. */
  readonly broken: (manifests: readonly Json[]) => readonly (readonly [string, readonly Json[]])[]
}

const say = (line: string): void => void process.stdout.write(`${line}\n`)
const KNOWN = { egress_allow_cidrs: ['127.0.0.0/8'], verdict_secrets: null }
const RULES = [{ methods: ['*'], paths: ['/allowed/**'] }]

/** Runs the main job on the real Envoy through what a control plane makes of our manifests, and then without each part. */
export async function checkManifests(plane: ControlPlane): Promise<void> {
  const fleet = await startFleet()
  const api = await startCompanyApi()
  const began = performance.now()
  const whole = await start(fleet, plane, (manifests) => manifests)
  const dump = JSON.parse(await whole.admin('/config_dump'))
  const found = checkEnvoyConfig(dump, '', KNOWN)
  assert.deepEqual(
    found.filter(({ state }) => state === 'failed'),
    [],
    'agw doctor finds nothing',
  )
  const { admin, identity } = fleet
  const job = await mainJob({
    proxyUrl: whole.url,
    apiUrl: admin.url,
    adminToken: identity.token,
  })
  await job.stop()
  const access = await fleet.operator.makeAccess(`${api.origin}/whole`, { rules: RULES })
  assert.equal(await attack(whole, access, api), 200)
  await whole.stop()
  say(
    `ok  ${plane.name}: main job, kill of a stream, evil Host, forged verdict, upgrade; agw doctor: ${found.length} remarks, none failed`,
  )

  const closed = await start(fleet, plane, (manifests) => manifests, [])
  const before = api.seen.length
  const refused = await ask(closed, access, '/allowed/private-address')
  assert.deepEqual([refused.status, api.seen.length - before], [502, 0])
  await closed.stop()
  say('ok  the address filter refuses 127.0.0.1 where no range is allowed')

  await checkOwnRoutes(fleet, plane, api)
  await checkBroken(fleet, plane, api)
  say(`${plane.name}: ${((performance.now() - began) / 1000).toFixed(0)} s`)
  closeConnections()
  await fleet.stop()
  await api.stop()
}

async function checkOwnRoutes(fleet: Fleet, plane: ControlPlane, api: CompanyApi): Promise<void> {
  const port = await freePort()
  const company = plane.company({ company: port, api: api.port })
  const access = await fleet.operator.makeAccess(`${api.origin}/beside`, { rules: RULES })
  const compared = await checkCompany(
    {
      company_url: `http://127.0.0.1:${port}`,
      before: () => start(fleet, plane, () => company),
      after: () => start(fleet, plane, (manifests) => [...manifests, ...company]),
      ours: plane.sharesEnvoy
        ? null
        : () => start(fleet, plane, (manifests) => [...company, ...manifests]),
      callAs: async (gateway, headers) =>
        (await ask(gateway, access, '/allowed/traced', headers)).status,
    },
    api,
  )
  say(
    `ok  ${compared} answers of the company's own routes are the same with and without ours, and traces go on`,
  )
}

async function checkBroken(fleet: Fleet, plane: ControlPlane, api: CompanyApi): Promise<void> {
  let rows: readonly (readonly [string, readonly Json[]])[] = []
  await (
    await start(fleet, plane, (manifests) => {
      rows = plane.broken(manifests)
      return manifests
    })
  ).stop()
  const counts = { refused: 0, 'served as if it were whole': 0, 'refused by Envoy': 0 }
  for (const [i, [name]] of rows.entries()) {
    const envoy = await start(
      fleet,
      plane,
      (manifests) => plane.broken(manifests)[i]?.[1] ?? [],
    ).catch((error: unknown) => String(error))
    if (typeof envoy === 'string') {
      assert.match(envoy, /Envoy ended/, `${name}: ${envoy}`)
      counts['refused by Envoy'] += 1
      continue
    }
    const access = await fleet.operator.makeAccess(`${api.origin}/broken-${i}`, { rules: RULES })
    const status = await attack(envoy, access, api, name)
    counts[status === 200 ? 'served as if it were whole' : 'refused'] += 1
    say(`    ${String(status).padEnd(4)} without ${name}`)
    await envoy.stop()
  }
  say(
    `ok  ${rows.length} incomplete sets of manifests, none forwards without a verdict: ${JSON.stringify(counts)}`,
  )
}

function start(
  fleet: Fleet,
  plane: ControlPlane,
  change: (manifests: readonly Json[]) => readonly Json[],
  allowed?: readonly string[],
): Promise<KitEnvoy> {
  return fleet.addEnvoy((yaml) => {
    const whole = parse(yaml, { maxAliasCount: -1 })
    const listener = whole.static_resources.listeners[0]
    const port = listener.address.socket_address.port_value
    const endpoints = whole.static_resources.clusters.find(({ name }: Json) => name === 'ext_proc')
      .load_assignment.endpoints[0].lb_endpoints
    const manifests = plane.render({
      parts: asParts(allowed === undefined ? whole : refusingAll(whole), {
        kind: 'own-port',
        hostnames: ['*'],
      }),
      port,
      ext_proc_addresses: endpoints.map(
        ({ endpoint }: Json) => `unix:${endpoint.address.pipe.path}`,
      ),
    })
    const config = plane.translate(JSON.parse(JSON.stringify(change(manifests))))
    return stringify({ ...config, admin: whole.admin }, { aliasDuplicateObjects: false })
  })
}

/** The range that the tests allow is refused again. */
function refusingAll(bootstrap: Json): Json {
  const text = JSON.stringify(bootstrap)
  const closed = text.replaceAll(
    '"resolved_address_filter":{"ranges":[',
    '"resolved_address_filter":{"ranges":[{"address_prefix":"127.0.0.0","prefix_len":8},',
  )
  assert.notEqual(closed, text)
  return JSON.parse(closed)
}

const ask = (
  envoy: KitEnvoy,
  access: Access,
  path: string,
  more: Readonly<Record<string, string>> = {},
) =>
  call({
    to: envoy.url,
    path: `/${access.base_url}${path}`,
    headers: { ...access.headers, ...more },
  })

/**
 * Calls that must never be forwarded, and some that may only go to the API of the integration.
 * @returns the status of an allowed call
 */
async function attack(
  envoy: KitEnvoy,
  access: Access,
  api: CompanyApi,
  name = '',
): Promise<number> {
  api.seen.length = 0
  const host = new URL(access.base_url).host
  const verdict = { 'x-agw-pass': envoy.verdict_secret, 'x-agw-up': 'http', 'x-agw-host': host }
  const { status } = await ask(envoy, access, '/allowed/a')
  await ask(envoy, access, '/allowed/evil', { host: 'evil.test' })
  for (const path of ['/forbidden', '/forbidden/x'])
    for (const more of [{}, verdict, { host: 'evil.test' }, { ...verdict, authorization: '' }])
      assert.notEqual((await ask(envoy, access, path, more)).status, 200, `${name} ${path}`)
  const stray = await call({ to: envoy.url, path: '/forbidden/stray', headers: verdict })
  assert.notEqual(stray.status, 200, `${name} stray`)
  const upgrade = { connection: 'upgrade', upgrade: 'websocket' }
  const upgraded = await ask(envoy, access, '/allowed/upgrade', upgrade)
  assert.ok(upgraded.status >= 400, `${name} upgrade ${upgraded.status}`)
  for (const one of api.seen) {
    assert.match(one, /^GET \S*\/allowed\/(a|evil)\n/, `${name}: forwarded ${one.slice(0, 200)}`)
    assert.ok(!one.includes('evil.test'), `${name}: the caller names the host`)
    assert.ok(one.includes(STORED_CREDENTIAL), `${name}: forwarded without the credential`)
    assert.ok(!one.includes(access.agent.api_key), `${name}: the key of the agent is forwarded`)
  }
  return status
}
