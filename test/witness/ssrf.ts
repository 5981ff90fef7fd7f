import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import ipaddr from 'ipaddr.js'
import { fromRoot } from '../../core/system/root.ts'
import { startDnsServer } from '../kit/dns-server.ts'
import { operatorAt } from '../kit/operator.ts'
import { rawHttp } from '../kit/raw-http.ts'
import { startStack } from '../kit/start-stack.ts'
import { type Connection, listenEverywhere } from './listen-everywhere.ts'
import { ssrfPayloads } from './ssrf-payloads.ts'

/**
 * Gives SSRF payloads to the running product wherever it takes an address: as the target of a call, as the base URL or
 * token URL of an integration, and as a webhook's URL. Counts the connections it makes to a private address or to a
 * cloud's metadata service. Lists are files with addresses, one per line or in Markdown.
 *
 *     node cli/prepare.mjs build && node dist/test/witness/ssrf.js [--product FOLDER] [--allow CIDR,…] LIST …
 *
 * It runs in a network namespace of its own (Linux, `unshare`), where every address is this machine's: whatever the
 * product connects to, a listener here sees it, and nothing leaves. Any name resolves to the metadata service, unless
 * it spells an address. `--product` is another built version, `--allow` opens ranges to show that payloads do arrive.
 */
const INSIDE = 'AGW_WITNESS_INSIDE'
/** An address that may be reached, which shows in each part that connections are seen. */
const PUBLIC = '93.184.216.34'
const METADATA = '169.254.169.254'
const METADATA_ELSEWHERE = new Set(['168.63.129.16'])
/** Where services of clouds and of machines listen, in addition to the ports in the payloads. */
const PORTS = [22, 25, 80, 443, 2375, 2379, 6379, 8080, 9200, 11211]
/** Above these the system chooses ports, which are the product's own. */
const PORT_LIMIT = 32_768
const SHOWN_LIMIT = 20

const words = process.argv.slice(2)
const option = (name: string): string | undefined => {
  const at = words.indexOf(name)
  return at < 0 ? undefined : words.splice(at, 2)[1]
}
const product = option('--product')
const allowed = option('--allow')
if (words.length === 0) throw new Error('name at least one list of payloads')
if (process.env[INSIDE] === undefined) process.exit(runInside())

const payloads = ssrfPayloads(words.map((file) => readFileSync(file, 'utf8')))
const named = payloads.flatMap((payload) =>
  [...payload.matchAll(/:(\d{2,5})(?!\d)/g)].map(([, port]) => Number(port)),
)
const listener = await listenEverywhere(
  new Set([...PORTS, ...named.filter((port) => port < PORT_LIMIT)]),
)
const dns = await startDnsServer({ 'api.test': [PUBLIC], 'www.api.test': [PUBLIC] }, [METADATA])
for (const payload of payloads)
  for (const name of namesIn(payload)) dns.set(name, addressesOf(name))
const stack = await startStack(
  {
    AGW_DNS_RESOLVERS: dns.address,
    AGW_UPSTREAM_IDLE_TIMEOUT: '5s',
    ...(allowed === undefined
      ? {}
      : { AGW_EGRESS_ALLOW_CIDRS: allowed, AGW_WEBHOOK_ALLOW_CIDRS: allowed }),
  },
  product,
)
const operator = operatorAt(stack.apiUrl, stack.adminToken)
const access = await operator.makeAccess('http://api.test', { auth: { type: 'none' } })
let misses = 0
try {
  console.log(`${payloads.length} payloads; every address is a listener's`)
  await part('call', callBy)
  await part('base URL', storeAndCall)
  await part('token URL', storeTokenUrl)
  await part('webhook', storeWebhook)
} finally {
  await stack.stop()
  await dns.stop()
  listener.stop()
}
if (misses > 0 && allowed === undefined) process.exitCode = 1
process.exit()

/** Whether the product took a payload: a call was not refused, a resource was stored. */
type Outcome = boolean

async function part(name: string, attempt: (payload: string) => Promise<Outcome>): Promise<void> {
  const before = listener.connections.length
  await attempt(name === 'webhook' ? 'https://api.test/' : 'http://api.test/')
  const control = listener.connections.length - before
  let taken = 0
  const reached: { payload: string; connection: Connection }[] = []
  let elsewhere = 0
  for (const payload of payloads) {
    const from = listener.connections.length
    if (await attempt(payload)) taken++
    for (const connection of listener.connections.slice(from)) {
      if (isPrivate(connection.address)) reached.push({ payload, connection })
      else elsewhere++
    }
  }
  misses += reached.length
  if (control === 0) throw new Error(`${name}: not even a public address was reached`)
  console.log(
    `${name.padEnd(10)} taken ${String(taken).padStart(5)}, connections: public ${String(elsewhere).padStart(5)}, private or metadata ${String(reached.length).padStart(5)}`,
  )
  for (const { payload, connection } of reached.slice(0, SHOWN_LIMIT))
    console.log(`  ${payload} reached ${connection.address} port ${connection.port}`)
}

/** As the target, in place of a path, and as the Host of an allowed call. */
async function callBy(payload: string): Promise<Outcome> {
  const outcomes = [await call(`/${payload}`), await call(payload)]
  await call('/http://api.test/', hostIn(payload))
  return outcomes.includes(true)
}

async function call(target: string, host = 'gateway'): Promise<Outcome> {
  const line = Buffer.from(target, 'utf8').toString('latin1')
  const { answers } = await rawHttp(
    stack.proxyUrl,
    `GET ${line} HTTP/1.1\r\nHost: ${host}\r\nAuthorization: ${access.headers.authorization}\r\n\r\n`,
  )
  return (answers[0]?.status ?? 400) < 400
}

async function storeAndCall(payload: string): Promise<Outcome> {
  // The one that every other part uses is there already.
  if (payload === 'http://api.test/') return call('/http://api.test/')
  return withStored(
    '/admin/integrations',
    { name: 'payload', base_url: payload, auth: { type: 'none' } },
    async (made) => {
      await send('POST', '/admin/scopes', scopeFor(made['integration_id']))
      await call(`/${String(made['base_url'])}/x`)
      return `/admin/integrations/${String(made['integration_id'])}?cascade=true`
    },
  )
}

async function storeTokenUrl(payload: string): Promise<Outcome> {
  const auth = { type: 'oauth2_client_credentials', client_id: 'id', client_secret: 'secret' }
  const integration = {
    name: 'payload',
    base_url: 'http://api.test/v2',
    auth: { ...auth, token_url: payload },
  }
  return withStored('/admin/integrations', integration, async (made) => {
    await send('POST', '/admin/scopes', scopeFor(made['integration_id']))
    await call('/http://api.test/v2/x')
    return `/admin/integrations/${String(made['integration_id'])}?cascade=true`
  })
}

/** A webhook is https; a payload with http is given with https as well. */
async function storeWebhook(payload: string): Promise<Outcome> {
  const urls = new Set([payload, payload.replace(/^http:/i, 'https:')])
  let taken = false
  for (const url of urls)
    taken =
      (await withStored(
        '/webhooks',
        { name: 'payload', url, events: ['agent_killed'] },
        async (made) => {
          await send('POST', `/webhooks/${String(made['webhook_id'])}/test`, {})
          return `/webhooks/${String(made['webhook_id'])}`
        },
      )) || taken
  return taken
}

async function withStored(
  path: string,
  resource: object,
  use: (made: Readonly<Record<string, unknown>>) => Promise<string>,
): Promise<Outcome> {
  const answer = await send('POST', path, resource)
  if (answer.status !== 201) return false
  await send('DELETE', await use(answer.body))
  return true
}

async function send(
  method: string,
  path: string,
  body?: object,
): Promise<{ readonly status: number; readonly body: Readonly<Record<string, unknown>> }> {
  const answer = await fetch(stack.apiUrl + path, {
    method,
    headers: {
      authorization: `Bearer ${stack.adminToken}`,
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  const text = await answer.text()
  if (answer.status >= 500) throw new Error(`${method} ${path} answered ${answer.status}: ${text}`)
  return {
    status: answer.status,
    body: text === '' ? {} : (JSON.parse(text) as Record<string, unknown>),
  }
}

function scopeFor(integration_id: unknown): object {
  return {
    name: 'payload',
    agent_id: access.agent.agent_id,
    integration_id,
    rules: [{ methods: ['*'], paths: ['/**'] }],
  }
}

function isPrivate(text: string): boolean {
  const address = ipaddr.process(text)
  return address.range() !== 'unicast' || METADATA_ELSEWHERE.has(text)
}

/** Names in a payload, as any reader may take them for the host. */
function namesIn(payload: string): readonly string[] {
  return [...payload.matchAll(/[a-z0-9-]+(?:\.[a-z0-9-]+)*\.[a-z]{2,}/gi)].map(([name]) =>
    name.toLowerCase(),
  )
}

/** A name that spells addresses has them, one after the other; the last one stays. */
function addressesOf(name: string): readonly (readonly string[])[] {
  if (name.endsWith('api.test')) return [[PUBLIC]]
  const spelled = [...name.matchAll(/\d{1,3}(?:[.-]\d{1,3}){3}/g)].map(([text]) => [
    text.replaceAll('-', '.'),
  ])
  return spelled.length > 0 ? spelled : [[METADATA]]
}

function hostIn(payload: string): string {
  const [host = ''] = payload.replace(/^[^:]*:\/*/, '').split('/')
  return Buffer.from(host, 'utf8').toString('latin1')
}

function runInside(): number {
  const isRoot = process.getuid?.() === 0
  const here =
    'ip link set lo up && ip route add local 0.0.0.0/0 dev lo && ip -6 route add local ::/0 dev lo && exec "$@"'
  const script = fromRoot('dist', 'test', 'witness', 'ssrf.js')
  const user = isRoot ? [] : ['--user', '--map-root-user']
  const { status } = spawnSync(
    'unshare',
    [...user, '--net', 'sh', '-c', here, 'sh', process.execPath, script, ...process.argv.slice(2)],
    { stdio: 'inherit', env: { ...process.env, [INSIDE]: '1' } },
  )
  return status ?? 1
}
