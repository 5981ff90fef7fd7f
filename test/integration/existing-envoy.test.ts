import assert from 'node:assert/strict'
import { generateKeyPairSync } from 'node:crypto'
import { join } from 'node:path'
import { Writable } from 'node:stream'
import { after, before, test } from 'node:test'
import { probeProxy } from '../../admin/status/probe-proxy.ts'
import { runDoctor } from '../../cli/commands/doctor.ts'
import { checkEnvoyConfig } from '../../cli/doctor/envoy/check-envoy.ts'
import { type HttpAnswer, call, closeConnections } from '../kit/call.ts'
import { type CompanyApi, companyAnswers, startCompanyApi } from '../kit/company-calls.ts'
import { type Adoption, companyEnvoy, GATEWAY_HOST, managerOf } from '../kit/company-envoy.ts'
import { freePort } from '../kit/free-port.ts'
import { closeOpenCalls, openCall } from '../kit/open-call.ts'
import { type Access, STORED_CREDENTIAL } from '../kit/operator.ts'
import { type Fleet, startFleet } from '../kit/start-fleet.ts'
import type { KitEnvoy } from '../kit/start-envoy.ts'
import { tempFolder } from '../kit/temp-folder.ts'
import { until } from '../kit/until.ts'

// A company with an Envoy of its own adds the gateway to it, in each way that `agw envoy-config` offers.

type Json = any

let fleet: Fleet
let api: CompanyApi
/** The company's answers before it knew of the gateway. */
let without: Record<string, string>
let health: number

before(async () => {
  health = await freePort()
  api = await startCompanyApi()
  fleet = await startFleet({ env: { AGW_HEALTH_ADDRESS: `127.0.0.1:${health}` } })
  const { company, envoy } = await start('before')
  without = await companyAnswers(company)
  await envoy.stop()
})

after(async () => {
  closeOpenCalls()
  closeConnections()
  await fleet.stop()
  await api.stop()
})

interface Started {
  readonly envoy: KitEnvoy
  /** The company's listener. */
  readonly company: string
  /** Where agents call the gateway, and with which header `Host`. */
  readonly gateway: string
  readonly host: string
}

async function start(adoption: Adoption, change?: (config: Json) => void): Promise<Started> {
  const own = adoption === 'listener' ? await freePort() : null
  let port = 0
  const envoy = await fleet.addEnvoy((yaml) => {
    port = own ?? Number(/name: agents\s+address:[\s\S]*?port_value: (\d+)/.exec(yaml)?.[1])
    return companyEnvoy(adoption, { company: port, api: api.port }, change)(yaml)
  })
  const company = `http://127.0.0.1:${port}`
  const host = adoption === 'virtual-host' ? GATEWAY_HOST : 'any.test'
  return { envoy, company, gateway: adoption === 'listener' ? envoy.url : company, host }
}

const ask = (
  { gateway, host }: Started,
  access: Access,
  path: string,
  headers: Readonly<Record<string, string>> = {},
): Promise<HttpAnswer> =>
  call({
    to: gateway,
    path: `/${access.base_url}${path}`,
    headers: { host, ...access.headers, ...headers },
  })

const KNOWN = { egress_allow_cidrs: ['127.0.0.0/8'], verdict_secrets: null }
const rules = [{ methods: ['*'], paths: ['/allowed/**', '/sse'] }]
const seenWith = (text: string): readonly string[] => api.seen.filter((one) => one.includes(text))

for (const adoption of ['listener', 'virtual-host', 'filter'] as const)
  test(`mode ${adoption}: the main job works, and the company's own routes are as before, byte for byte`, async () => {
    const started = await start(adoption)
    const access = await fleet.operator.makeAccess(`${api.origin}/${adoption}`, { rules })
    const passed = await ask(started, access, '/allowed/a?b=c')
    assert.equal(passed.status, 200, passed.body.toString())
    const [seen = ''] = seenWith(`/${adoption}/allowed/a?b=c`)
    assert.ok(seen.includes(STORED_CREDENTIAL))
    assert.ok(!seen.includes(access.agent.api_key))
    assert.doesNotMatch(seen, /x-agw-|x-envoy-|x-request-id|x-forwarded/i)
    assert.ok(seen.includes(new URL(api.origin).host), 'the host is that of the API')

    const proxyProbeUrl = `${started.gateway}/https:/`
    const place = { proxyHost: '127.0.0.1', proxyPort: 1, tlsCertFile: null, proxyProbeUrl }
    // The name of a virtual host would have to be resolved.
    const probed = adoption === 'virtual-host' ? 'the proxy responded with 404' : null
    assert.equal(await probeProxy(place, null), probed, 'AGW_PROXY_PROBE_URL')

    const dump = JSON.parse(await started.envoy.admin('/config_dump'))
    const failures = checkEnvoyConfig(dump, '', KNOWN).filter(({ state }) => state === 'failed')
    assert.deepEqual(failures, [], 'agw doctor finds nothing')

    const denied = await ask(started, access, '/forbidden')
    assert.deepEqual([denied.status, denied.header('x-agw-reason')], [403, 'permission_denied'])
    const nobody = await ask(started, access, '/allowed/b', { authorization: 'Bearer x' })
    assert.equal(nobody.status, 401)
    // The secret is known to nobody; if it were, a call would still need a verdict.
    const verdict = {
      'x-agw-pass': started.envoy.verdict_secret,
      'x-agw-up': 'http',
      'x-agw-host': new URL(api.origin).host,
    }
    const forged = await ask(started, access, '/forbidden/forged', verdict)
    assert.equal(forged.status, 403)
    const stray = await call({
      to: started.gateway,
      path: '/private/forged',
      headers: { host: started.host, ...verdict },
    })
    assert.notEqual(stray.status, 200, stray.body.toString())
    const evil = await ask({ ...started, host: 'evil.test' }, access, '/allowed/evil')
    assert.equal(evil.status, adoption === 'virtual-host' ? 404 : 200)
    const upgrade = await ask(started, access, '/allowed/upgrade', {
      connection: 'upgrade',
      upgrade: 'websocket',
    })
    assert.equal(upgrade.status >= 400, true)
    for (const path of ['/forbidden', '/allowed/b', '/forged', '/allowed/upgrade'])
      assert.deepEqual(seenWith(path), [], path)
    // A host of the caller's is never where the credential goes: it goes to the host of the integration or nowhere.
    for (const one of seenWith('/allowed/evil')) assert.ok(!one.includes('evil.test'))

    assert.deepEqual(await companyAnswers(started.company), without)

    const stream = openCall(started.gateway, `${access.base_url}/sse`, {
      host: started.host,
      ...access.headers,
    })
    assert.equal(await stream.answered, 200)
    const kill = `/admin/agents/${access.agent.agent_id}/kill`
    const receipt = await fleet.operator.send('POST', kill)
    assert.deepEqual([receipt.in_flight_requests_terminated, receipt.complete], [1, true])
    assert.equal((await stream.ended).is_whole, false)
    const after = await ask(started, access, '/allowed/after')
    assert.equal(after.header('x-agw-reason'), 'agent_killed')

    // Allowed calls arrive in the log with the next batch.
    const entry = await until('the allowed call is in the log', async () => {
      const path = `/admin/activity?agent_id=${access.agent.agent_id}`
      const { data } = await fleet.operator.send('GET', path)
      return data.find(({ endpoint }: Json) => endpoint === `/${adoption}/allowed/a`)
    })
    assert.deepEqual([entry.decision, entry.status], ['allowed', 200])
    assert.equal(entry.source_ip, '127.0.0.1')
    await started.envoy.stop()
  })

const filterNamed = (config: Json, name: string): Json =>
  managerOf(config).http_filters.find((filter: Json) => filter.name === name)

const OTHER_SECRET = 'the verdict secret is another one'

/** The entry of the only call of an agent, which arrives with the next batch. */
const entryOf = ({ agent }: Access): Promise<Json> =>
  until('the call is in the log', async () => {
    const path = `/admin/activity?agent_id=${agent.agent_id}&event=request_allowed`
    const { data } = await fleet.operator.send('GET', path)
    return data[0]
  })

const BROKEN: Readonly<Record<string, (config: Json) => void>> = {
  'the ext_proc filter is missing': (config) => {
    const manager = managerOf(config)
    manager.http_filters = manager.http_filters.filter(({ name }: Json) => name !== 'agw.ext_proc')
  },
  'the virtual host does not switch the filter on': (config) => {
    for (const host of managerOf(config).route_config.virtual_hosts)
      for (const one of [host, ...host.routes]) delete one.typed_per_filter_config?.['agw.ext_proc']
  },
  'the routes that forward are missing': (config) => {
    for (const host of managerOf(config).route_config.virtual_hosts)
      host.routes = host.routes.filter(({ name = '' }: Json) => !name.startsWith('agw-pass-'))
  },
  'the processors have another address': (config) => {
    const cluster = config.static_resources.clusters.find(
      ({ name }: Json) => name === 'agw_ext_proc',
    )
    cluster.load_assignment.endpoints = [
      { lb_endpoints: [{ endpoint: { address: { pipe: { path: '/nowhere/ext-proc.sock' } } } }] },
    ]
  },
  [OTHER_SECRET]: (config) => {
    for (const host of managerOf(config).route_config.virtual_hosts)
      for (const { match } of host.routes)
        if (match.headers?.[0]?.name === 'x-agw-pass') match.headers[0].string_match.exact = 'other'
  },
  'the filter allows calls when it fails, and its cluster is wrong': (config) => {
    const filter = filterNamed(config, 'agw.ext_proc').typed_config.extension_config.typed_config
    filter.failure_mode_allow = true
    filter.grpc_service.envoy_grpc.cluster_name = 'agw_nowhere'
  },
}

for (const adoption of ['virtual-host', 'filter'] as const)
  for (const [i, [name, change]] of Object.entries(BROKEN).entries())
    test(`mode ${adoption} fails closed: ${name}`, async () => {
      const started = await start(adoption, change)
      // Once it is decided, the call has a path that a route of the company matches too.
      const base_url = `${api.origin}/private/${adoption}-${i}`
      const access = await fleet.operator.makeAccess(base_url, { rules })
      const before = api.seen.length
      const answer = await ask(started, access, '/allowed/a')
      assert.ok(answer.status >= 500, `${answer.status} ${answer.body.toString()}`)
      assert.deepEqual(api.seen.slice(before), [], 'nothing arrived')
      assert.deepEqual(await companyAnswers(started.company), without)
      if (name === OTHER_SECRET) {
        const { decision, reason, data } = await entryOf(access)
        assert.deepEqual([decision, reason], ['allowed', 'gateway_unavailable'])
        assert.equal(data.upstream.outcome, 'not_sent')
        assert.match(data.upstream.cause, /AGW_VERDICT_SECRET/)
      }
      await started.envoy.stop()
    })

for (const adoption of ['listener', 'virtual-host', 'filter'] as const)
  test(`mode ${adoption}: a route of the company before those of the gateway gets no allowed call`, async () => {
    const started = await start(adoption, (config) => {
      const hosts = config.static_resources.listeners.flatMap(
        ({ filter_chains }: Json) =>
          filter_chains[0].filters[0].typed_config.route_config.virtual_hosts,
      )
      const host = hosts.find(({ routes }: Json) =>
        routes.some(({ name = '' }: Json) => /^(?:agw-)?pass-/.test(name)),
      )
      // Behind it, the calls of agents reach the gateway; when it has decided, their path is that of the API.
      host.routes.unshift({
        name: 'company-first',
        match: { prefix: `/first-${adoption}` },
        route: { cluster: 'company_api' },
      })
    })
    const base_url = `${api.origin}/first-${adoption}`
    const access = await fleet.operator.makeAccess(base_url, { rules })
    const before = api.seen.length
    const answer = await ask(started, access, '/allowed/a')
    assert.ok([403, 503].includes(answer.status), `${answer.status} ${answer.body.toString()}`)
    assert.deepEqual(api.seen.slice(before), [], 'nothing arrived')
    const { decision, reason, data } = await entryOf(access)
    assert.deepEqual([decision, reason], ['allowed', 'gateway_unavailable'])
    assert.equal(data.upstream.outcome, 'not_sent')
    assert.match(data.upstream.cause, /stands before/)
    await started.envoy.stop()
  })

/** Checks a token of the company. Its challenge names the URL of the request, here that of the gateway. */
function companyJwt(): Json {
  const { publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const keys = [{ ...publicKey.export({ format: 'jwk' }), kid: 'company', alg: 'ES256' }]
  return {
    name: 'company.jwt',
    typed_config: {
      '@type': 'type.googleapis.com/envoy.extensions.filters.http.jwt_authn.v3.JwtAuthentication',
      providers: {
        company: { issuer: 'company', local_jwks: { inline_string: JSON.stringify({ keys }) } },
      },
      rules: [{ match: { prefix: '/' }, requires: { provider_name: 'company' } }],
    },
  }
}

/** Refuses every call. */
function companyRbac(): Json {
  const company = { permissions: [{ any: true }], principals: [{ any: true }] }
  return {
    name: 'company.rbac',
    typed_config: {
      '@type': 'type.googleapis.com/envoy.extensions.filters.http.rbac.v3.RBAC',
      rules: { action: 'DENY', policies: { company } },
    },
  }
}

for (const adoption of ['virtual-host', 'filter'] as const)
  test(`mode ${adoption}: a refusal by a filter behind ours is that filter's, to the agent and in the log`, async () => {
    const started = await start(adoption, (config) => {
      const { http_filters: filters } = managerOf(config)
      const ours = filters.findIndex(({ name }: Json) => name === 'agw.ext_proc')
      filters.splice(ours + 1, 0, companyJwt())
    })
    for (const auth of [
      { type: 'bearer', token: STORED_CREDENTIAL },
      { type: 'query', name: 'key', value: STORED_CREDENTIAL },
    ]) {
      const base_url = `${api.origin}/behind-${adoption}-${auth.type}`
      const access = await fleet.operator.makeAccess(base_url, { rules, auth })
      const before = api.seen.length
      const answer = await ask(started, access, '/allowed/a')
      assert.equal(answer.status, 401, answer.body.toString())
      assert.equal(answer.header('x-agw-reason'), undefined)
      assert.equal(answer.header('x-agw-look'), undefined)
      assert.match(answer.header('www-authenticate') ?? '', /^Bearer realm="http:/)
      assert.ok(!JSON.stringify(answer.headers).includes(STORED_CREDENTIAL))
      assert.deepEqual(api.seen.slice(before), [], 'nothing arrived')
      const { decision, status, reason, data } = await entryOf(access)
      assert.deepEqual([decision, status, reason], ['allowed', 401, null])
      assert.equal(data.upstream.outcome, 'not_sent')
      assert.match(data.upstream.details, /^jwt_authn_access_denied/)
    }
    await started.envoy.stop()
  })

test('mode listener: a refusal by a filter that does not belong there is an error of the gateway', async () => {
  const started = await start('listener', (config) => {
    for (const { filter_chains } of config.static_resources.listeners) {
      const filters: Json[] = filter_chains[0].filters[0].typed_config.http_filters
      const ours = filters.findIndex(({ name }) => name === 'envoy.filters.http.ext_proc')
      if (ours !== -1) filters.splice(ours + 1, 0, companyRbac())
    }
  })
  const access = await fleet.operator.makeAccess(`${api.origin}/behind-listener`, { rules })
  const before = api.seen.length
  const answer = await ask(started, access, '/allowed/a')
  assert.equal(answer.status, 503, answer.body.toString())
  assert.equal(answer.header('x-agw-reason'), 'gateway_unavailable')
  const { error, details } = JSON.parse(answer.body.toString())
  assert.equal(error, 'gateway_unavailable')
  assert.match(
    details.cause,
    /^Another filter of Envoy refused the call, so another attempt does not help\./,
  )
  assert.deepEqual(api.seen.slice(before), [], 'nothing arrived')
  const { data } = await entryOf(access)
  assert.equal(data.upstream.outcome, 'not_sent')
  assert.match(data.upstream.details, /^rbac_access_denied/)
  await started.envoy.stop()
})

test('with the mapper that the doctor asks for, refusals keep their body among error pages of the company', async () => {
  const cel = {
    '@type': 'type.googleapis.com/envoy.extensions.access_loggers.filters.cel.v3.ExpressionFilter',
    expression: "response.code_details.startsWith('agw_')",
  }
  const ours = {
    filter: {
      extension_filter: { name: 'envoy.access_loggers.extension_filters.cel', typed_config: cel },
    },
    body_format_override: { text_format_source: { inline_string: '%LOCAL_REPLY_BODY%' } },
  }
  const body_format = { text_format_source: { inline_string: 'company error page' } }
  const access = await fleet.operator.makeAccess(`${api.origin}/error-pages`, { rules })
  for (const mappers of [[], [ours]]) {
    const started = await start('filter', (config) => {
      managerOf(config).local_reply_config = { mappers, body_format }
    })
    const isOurs = mappers.length > 0
    const denied = await ask(started, access, '/forbidden')
    assert.equal(denied.body.toString() === 'company error page', !isOurs)
    if (isOurs) assert.equal(JSON.parse(denied.body.toString()).error, 'permission_denied')
    if (isOurs) assert.equal(denied.header('content-type'), 'application/json')
    const missing = await call({ to: started.company, path: '/nowhere' })
    assert.equal(missing.body.toString(), 'company error page')
    const dump = JSON.parse(await started.envoy.admin('/config_dump'))
    const says = checkEnvoyConfig(dump, '', KNOWN).map((one) => one.says)
    assert.equal(
      says.some((text) => text.startsWith('local_reply_config replaces')),
      !isOurs,
    )
    await started.envoy.stop()
  }
})

test('the probes of the edge say that it holds its lease, and its metrics count the calls', async () => {
  const at = (path: string): Promise<HttpAnswer> => call({ to: `http://127.0.0.1:${health}`, path })
  assert.equal((await at('/readyz')).status, 200)
  const metrics = (await at('/metrics')).body.toString()
  assert.match(metrics, /^agw_lease_held\{edge="edge-1"\} 1$/m)
  assert.match(metrics, /^agw_calls_total\{edge="edge-1",verdict="allowed",reason=""\} [1-9]/m)
})

test('an edge that is told to attaches no credential until the doctor passes, and none again when it fails', async () => {
  const file = join(tempFolder('doctor-pass'), 'passed')
  const own = await startFleet({ env: { AGW_DOCTOR_PASS_FILE: file } })
  const base_url = `${api.origin}/held`
  const access = await own.operator.makeAccess(base_url, { rules })
  const open = await own.operator.makeAccess(`${api.origin}/needs-none`, {
    rules,
    auth: { type: 'none' },
  })
  const [edge] = own.edges
  const [envoy] = own.envoys
  assert.ok(edge && envoy)
  const askFor = (one: Access): Promise<HttpAnswer> =>
    call({ to: edge.url, path: `/${one.base_url}/allowed/a`, headers: one.headers })
  const doctor = (of: KitEnvoy): Promise<number> =>
    runDoctor(
      { envoyAdmin: of.admin_address },
      { AGW_DOCTOR_PASS_FILE: file, AGW_EGRESS_ALLOW_CIDRS: '127.0.0.0/8' },
      new Writable({ write: (_, __, done) => done() }),
    )
  const held = await askFor(access)
  assert.deepEqual([held.status, held.header('x-agw-reason')], [502, 'credential_unavailable'])
  assert.deepEqual(seenWith('/held'), [])
  assert.equal((await askFor(open)).status, 200)
  assert.equal(await doctor(envoy), 0)
  await until('credentials are attached', async () => (await askFor(access)).status === 200)
  assert.ok(seenWith('/held')[0]?.includes(STORED_CREDENTIAL))
  const broken = await own.addEnvoy((yaml) =>
    yaml.replace('failure_mode_allow: false', 'failure_mode_allow: true'),
  )
  assert.equal(await doctor(broken), 1)
  await until('credentials are held', async () => (await askFor(access)).status === 502)
  await own.stop()
})
