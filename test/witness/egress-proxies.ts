import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { connect } from 'node:net'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { WebSocket } from 'ws'
import { checkEgressProxy } from '../../cli/doctor/check-egress-proxy.ts'
import { call } from '../kit/call.ts'
import { freePort } from '../kit/free-port.ts'
import { operatorAt } from '../kit/operator.ts'
import { startAll, stopAll } from '../kit/shared-stack.ts'
import { startSocketApi } from '../kit/start-socket-api.ts'
import { startTokenEndpoint } from '../kit/start-token-endpoint.ts'
import { tempFolder } from '../kit/temp-folder.ts'
import { TEST_UPSTREAM_HOSTS as HOSTS } from '../kit/test-upstream.ts'
import { until } from '../kit/until.ts'

// What the gateway connects to through tinyproxy and squid, of Debian. Needs root: the proxies run with a hosts file of their own, in
// which the hosts of the tests are on this machine; for the gateway they have public addresses.
// apt-get install tinyproxy squid apache2-utils; node dist/test/witness/egress-proxies.js

const USER = 'gateway'
const PASSWORD = 'pass-word.of_the-proxy'
const PUBLIC = '93.184.215.14'
const folder = tempFolder('egress-proxies')
const hostsFile = join(folder, 'hosts')
writeFileSync(hostsFile, `127.0.0.1 localhost ${Object.values(HOSTS).join(' ')}\n`)

interface Proxy {
  readonly name: string
  readonly args: readonly string[]
  /** With what each proxy of Debian refuses unless told otherwise. */
  readonly refuses_private: boolean
}

const write = (name: string, text: string): string => {
  const file = join(folder, name)
  writeFileSync(file, text, { mode: 0o644 })
  return file
}

function tinyproxy(port: number): Proxy {
  const conf = write(
    'tinyproxy.conf',
    `Port ${port}\nListen 127.0.0.1\nTimeout 600\nMaxClients 200\nBasicAuth ${USER} ${PASSWORD}\n`,
  )
  return { name: 'tinyproxy', args: ['tinyproxy', '-d', '-c', conf], refuses_private: false }
}

function squid(port: number): Proxy {
  const hash = execFileSync('openssl', ['passwd', '-apr1', PASSWORD]).toString().trim()
  const users = write('users', `${USER}:${hash}\n`)
  const conf = write(
    'squid.conf',
    `http_port 127.0.0.1:${port}
hosts_file ${hostsFile}
pid_filename ${join(folder, 'squid.pid')}
cache deny all
cache_log /dev/null
access_log none
auth_param basic program /usr/lib/squid/basic_ncsa_auth ${users}
acl known proxy_auth REQUIRED
acl private dst 10.0.0.0/8 169.254.0.0/16
acl itself dstdomain localhost
http_access deny !known
http_access deny private
http_access deny itself
http_access allow known
`,
  )
  return { name: 'squid', args: ['squid', '-N', '-f', conf], refuses_private: true }
}

async function tryWith(make: (port: number) => Proxy): Promise<boolean> {
  const port = await freePort()
  const { name, args, refuses_private } = make(port)
  const command = `mount --bind ${hostsFile} /etc/hosts && chmod 755 ${folder} && exec "$@"`
  const child = spawn('unshare', ['-m', 'sh', '-c', command, 'sh', ...args], { stdio: 'ignore' })
  await until(`${name} listens`, async () => {
    const socket = connect(port, '127.0.0.1')
    const [isOpen] = await Promise.race([
      once(socket, 'connect').then(() => [true]),
      once(socket, 'error').then(() => [false]),
    ]).catch(() => [false])
    socket.destroy()
    return isOpen
  })
  const login = `${USER}:${encodeURIComponent(PASSWORD)}`
  const url = `http://${login}@127.0.0.1:${port}`
  const stack = await startAll({ AGW_EGRESS_PROXY: url, AGW_EGRESS_ALLOW_CIDRS: '' })
  const { api, dns, operator, proxyUrl } = stack
  for (const host of Object.values(HOSTS)) dns.set(host, [PUBLIC])
  dns.set('private.test', ['10.1.2.3'])
  const tokens = await startTokenEndpoint(api.certificates, HOSTS.other)
  const sockets = await startSocketApi(api.certificates)
  let isGood = true
  const row = (what: string, found: unknown, wanted: unknown): void => {
    const isOk = JSON.stringify(found) === JSON.stringify(wanted)
    isGood &&= isOk
    console.log(`${isOk ? 'ok  ' : 'FAIL'} ${name}: ${what}: ${JSON.stringify(found)}`)
  }
  const statusOf = async (origin: string, more: object = {}): Promise<number> => {
    const { base_url, headers } = await operator.makeAccess(`${origin}/w`, more)
    return (await call({ to: proxyUrl, path: `/${base_url}/x`, headers })).status
  }
  row('https', await statusOf(stack.origin('plain')), 200)
  row('https, HTTP/2', await statusOf(stack.origin('plain', 'https2')), 200)
  row('http, by CONNECT', await statusOf(stack.origin('plain', 'http')), 200)
  const upstream = { connect_timeout_ms: 9_000 }
  row('own settings', await statusOf(stack.origin('uploads'), { integration: { upstream } }), 200)
  const auth = {
    type: 'oauth2_client_credentials',
    token_url: tokens.url('t'),
    client_id: 'client',
    client_secret: 'client-secret-of-the-witness',
  }
  row('token endpoint', await statusOf(stack.origin('downloads'), { auth }), 200)
  const rules = [{ methods: ['GET'], paths: ['/**'], upgrade: ['websocket'] }]
  const { base_url, headers } = await operator.makeAccess(
    `https://${HOSTS.plain}:${sockets.port}/ws`,
    { rules },
  )
  const socket = new WebSocket(`${proxyUrl.replace('http', 'ws')}/${base_url}/x`, {
    headers: { ...headers },
  })
  await once(socket, 'open')
  const echo = once(socket, 'message')
  socket.send('hello')
  row('WebSocket', String((await echo)[0]), 'hello')
  socket.close()
  const webhooks = operatorAt(stack.apiUrl, stack.adminToken)
  const { webhook_id } = await webhooks.send('POST', '/webhooks', {
    name: 'w',
    url: `${stack.origin('plain')}/hook`,
    events: ['agent_killed'],
  })
  const before = api.connections()
  await webhooks.send('POST', `/webhooks/${webhook_id}/test`)
  row('webhook', api.connections() > before, true)
  row('a host at a private address', await statusOf('https://private.test'), 502)
  row('a port on which nothing listens', await statusOf(`https://${HOSTS.plain}:1`), 502)
  const check = async (egressProxy: string, egressProxyResolves: boolean): Promise<string[]> => {
    const settings = { egressProxy, egressProxyResolves, egressNoProxy: [] }
    const found = await checkEgressProxy(settings)
    return [...new Set(found.map(({ state }) => state))]
  }
  row('doctor', await check(url, false), ['ok'])
  row('doctor, wrong password', await check(url.replace(login, `${USER}:x`), false), ['failed'])
  const resolving = await check(url, true)
  row('doctor, private targets refused', resolving.join() === 'ok', refuses_private)
  row('password in the log', stack.log().includes(encodeURIComponent(PASSWORD)), false)
  await tokens.stop()
  await sockets.stop()
  await stopAll(stack)
  child.kill('SIGTERM')
  await once(child, 'exit')
  return isGood
}

const results = [await tryWith(tinyproxy), await tryWith(squid)]
process.exit(results.every(Boolean) ? 0 : 1)
