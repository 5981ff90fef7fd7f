import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { holdsGatewayKey } from '../../core/request/holds-gateway-key.ts'
import { STORED_CREDENTIAL } from '../kit/operator.ts'
import { sharedStack } from '../kit/shared-stack.ts'
import { tempFolder } from '../kit/temp-folder.ts'
import { TEST_UPSTREAM_HOSTS } from '../kit/test-upstream.ts'
import { REGISTRY_TOKEN } from '../kit/test-upstream/two-host-routes.ts'

// What spans two hosts, with one integration each, by base URL and through the forward proxy.

const run = promisify(execFile)
const stack = await sharedStack()
const { operator, api, origin, proxyUrl, forwardPort } = stack
const [vendor, cdn] = [origin('vendor'), origin('cdn')]
const entry = { host: new URL(cdn).host, methods: ['GET', 'HEAD', 'POST'] }
const agent = await operator.makeAgent()
const also = { also_hosts: [entry] }
for (const [base_url, more] of [
  [vendor, also],
  [`${vendor}/v2`, { ...also, auth: { type: 'none' } }],
] as const) {
  const { integration_id } = await operator.makeIntegration(base_url, more)
  await operator.makeScope(agent.agent_id, integration_id)
}
const folder = tempFolder('two-hosts')
const ca = join(folder, 'ca.pem')
writeFileSync(ca, await (await fetch(`${stack.apiUrl}/ca.pem`)).text())
const proxy = `http://agent:${agent.api_key}@127.0.0.1:${forwardPort}`
const gateway = `http://agent:${agent.api_key}@${new URL(proxyUrl).host}`
/** Without the configuration of the user who runs the tests. */
const plain = {
  PATH: process.env['PATH'],
  HOME: folder,
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_TERMINAL_PROMPT: '0',
  PIP_CONFIG_FILE: '/dev/null',
  npm_config_cache: join(folder, 'npm'),
  npm_config_update_notifier: 'false',
}
const proxied = {
  ...plain,
  HTTPS_PROXY: proxy,
  GIT_SSL_CAINFO: ca,
  CURL_CA_BUNDLE: ca,
  PIP_CERT: ca,
  NODE_EXTRA_CA_CERTS: ca,
  npm_config_cafile: ca,
}
const curl = async (isProxied: boolean, url: string, ...more: readonly string[]) =>
  (
    await run('curl', ['-sS', '-L', ...more, isProxied ? url : `${gateway}/${url}`], {
      env: isProxied ? proxied : plain,
    })
  ).stdout

/** Each returns what it has got from the second host. */
const CHAINS: Readonly<Record<string, (isProxied: boolean, to: string) => Promise<unknown>>> = {
  'git clone': async (isProxied, to) => {
    const url = `${vendor}/git/demo.git`
    const from = isProxied ? url : `${gateway}/${url}`
    await run('git', ['clone', '-q', from, to], { env: isProxied ? proxied : plain })
    assert.equal(readFileSync(join(to, 'data.bin')).length, 300_000)
  },
  'a release asset': async (isProxied) =>
    assert.equal(await curl(isProxied, `${vendor}/releases/asset.bin`), 'the asset'),
  'the exchange of docker pull': async (isProxied) => {
    const head = await curl(isProxied, `${vendor}/v2/demo/blobs/1`, '-i')
    const realm = /realm="([^"]*)"/.exec(head)?.[1] ?? ''
    assert.equal(realm, `${cdn}/token`)
    const { token } = JSON.parse(await curl(isProxied, realm))
    assert.equal(token, REGISTRY_TOKEN)
    // The Authorization of a caller never reaches an integration.
    if (!isProxied) return
    const header = `Authorization: Bearer ${token}`
    assert.match(await curl(true, `${vendor}/v2/demo/blobs/1`, '-i', '-H', header), / 401 /)
  },
  pip: async (isProxied, to) => {
    const index = isProxied ? `${vendor}/absolute/` : `${gateway}/${vendor}/simple/`
    const options = ['--no-deps', '--no-cache-dir', '--disable-pip-version-check', '-q', '-d', to]
    const args = ['-m', 'pip', 'download', ...options, '--index-url', index, 'demo==1.0']
    await run('python3', args, { env: isProxied ? proxied : plain })
    assert.deepEqual(readdirSync(to), ['demo-1.0-py3-none-any.whl'])
  },
  npm: async (isProxied, to) => {
    writeFileSync(join(to, '.npmrc'), `//${new URL(proxyUrl).host}/:_authToken=${agent.api_key}\n`)
    writeFileSync(join(to, 'package.json'), '{}')
    const what = isProxied
      ? ['demo', '--registry', `${vendor}/npm/`]
      : [`${proxyUrl}/${vendor}/npm/demo/-/demo-1.0.0.tgz`]
    await run('npm', ['pack', ...what], { cwd: to, env: isProxied ? proxied : plain })
    assert.ok(readdirSync(to).includes('demo-1.0.0.tgz'))
  },
}

for (const [name, chain] of Object.entries(CHAINS))
  for (const isProxied of [false, true])
    test(`${name} works ${isProxied ? 'through the forward proxy' : 'by base URL'}, and the second host gets no credential and no key`, async () => {
      const sent = api.mark()
      await chain(isProxied, tempFolder('chain'))
      const there = sent().filter(({ host }) => host.startsWith(TEST_UPSTREAM_HOSTS.cdn))
      assert.ok(there.length > 0)
      for (const { path, headers, body } of there) {
        const text = JSON.stringify([path, headers, body.toString('latin1')])
        assert.ok(!holdsGatewayKey(text), text)
        assert.ok(!text.includes(STORED_CREDENTIAL), text)
      }
    })

test('a second host that the agent may not call gets nothing', async () => {
  const other = await operator.makeAgent()
  const { integration_id } = await operator.makeIntegration(`${vendor}/releases`)
  await operator.makeScope(other.agent_id, integration_id)
  const sent = api.mark()
  const url = `${vendor}/releases/asset.bin`
  const byProxy = ['-x', proxy.replace(agent.api_key, other.api_key), '--cacert', ca, url]
  const byUrl = [`${gateway.replace(agent.api_key, other.api_key)}/${url}`]
  for (const how of [byProxy, byUrl]) {
    const { stdout } = await run('curl', ['-sS', '-L', ...how], { env: plain })
    assert.match(JSON.parse(stdout).error, /^(?:permission_denied|redirect_refused)$/)
  }
  assert.deepEqual([...new Set(sent().map(({ host }) => host))], [new URL(vendor).host])
})
