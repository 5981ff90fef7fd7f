import assert from 'node:assert/strict'
import { readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { parse } from 'yaml'
import { envoyConfigFile } from '../../cli/launcher/child-specs.ts'
import { openDataDir } from '../../cli/launcher/data-dir.ts'
import { fromRoot } from '../../core/system/root.ts'
import { call } from '../kit/call.ts'
import { assertRefusal } from '../kit/assert-refusal.ts'
import { ForwardClient } from '../kit/forward-client.ts'
import { freePort } from '../kit/free-port.ts'
import { issueCertificate } from '../kit/issue-certificate.ts'
import { makeCertificates } from '../kit/make-certificates.ts'
import { STORED_CREDENTIAL } from '../kit/operator.ts'
import { sharedStack } from '../kit/shared-stack.ts'
import { startEnvoy } from '../kit/start-envoy.ts'
import { tempFolder } from '../kit/temp-folder.ts'
import { until } from '../kit/until.ts'

// The steps of docs/guides/forward-proxy.md#the-extension-of-envoy, in a second Envoy with the processors of the stack.

const stack = await sharedStack()
const { operator, api, origin } = stack
const folder = tempFolder('shared-certificate')
const NAMES_MAX = 1_000

/** The pieces of YAML in the guide, with the files of this test. */
function piecesOfGuide(): readonly [selector: string, secret: string] {
  const guide = readFileSync(fromRoot('docs', 'guides', 'forward-proxy.md'), 'utf8')
  const pieces = [...guide.matchAll(/^   ```yaml\n([\s\S]*?)^   ```$/gm)].map(([, text = '']) =>
    text.replaceAll(/^   /gm, '').replaceAll('/etc/agw', folder),
  )
  assert.equal(pieces.length, 2)
  return [pieces[0] ?? '', pieces[1] ?? '']
}

/** The configuration of the stack on other ports, with what the guide says in place of the extension. */
function configuration(
  selector: string,
  ports: ReadonlyMap<number, number>,
  admin: string,
): string {
  const text = readFileSync(envoyConfigFile(openDataDir(stack.dataDir)), 'utf8')
  const config = parse(text, (key: unknown, value: unknown) => {
    if (key === 'port_value') return ports.get(value as number) ?? value
    if (typeof value !== 'object' || value === null) return value
    if (!('custom_tls_certificate_selector' in value)) return value
    const { custom_tls_certificate_selector: _, ...rest } = value
    return { ...rest, ...(parse(selector) as object) }
  }) as { admin: { address: unknown } }
  config.admin.address = { pipe: { path: admin } }
  const changed = JSON.stringify(config)
  assert.ok(!changed.includes('on_demand_secret'))
  return changed
}

test('one certificate for all hosts, without the extension, as the guide says', async () => {
  const [selector, secret] = piecesOfGuide()
  const to = origin('plain')
  const { host, hostname } = new URL(to)
  const access = await stack.makeAccess()
  const others = Array.from({ length: NAMES_MAX - 1 }, (_, i) => `api-${i}.example.test`)
  const made = await makeCertificates([hostname, ...others])
  const file = join(folder, 'forward-certificate.yaml')
  const write = (chain: string, key: string): void => {
    const text = secret
      .replace(join(folder, 'forward.pem'), chain)
      .replace(join(folder, 'forward-key.pem'), key)
    assert.ok(text.includes(chain) && text.includes(key))
    writeFileSync(`${file}.new`, text)
    renameSync(`${file}.new`, file)
  }
  write(made.cert_file, made.key_file)
  const port = await freePort()
  const ports = new Map([
    [stack.forwardPort ?? 0, port],
    [Number(new URL(stack.proxyUrl).port), await freePort()],
  ])
  const admin = join(folder, 'admin.sock')
  const envoy = await startEnvoy({}, { envoy_admin_socket: admin }, () =>
    configuration(selector, ports, admin),
  )
  const client = new ForwardClient(port, made.ca)
  after(async () => {
    client.close()
    await envoy.stop()
  })
  const connections = client.agent({ key: access.agent.api_key })
  const path = new URL(access.base_url).pathname
  const sent = api.mark()
  const answer = await call({ to, path: `${path}/echo`, connections })
  assert.equal(answer.status, 200)
  assert.equal(sent()[0]?.header('authorization'), `Bearer ${STORED_CREDENTIAL}`)
  assertRefusal(
    await call({ to, path: '/no-integration', connections }),
    404,
    'integration_not_found',
  )
  // The certificate is not for this host, or the server name is not that of the tunnel.
  const refused = async (target: string, servername: string, problem: RegExp): Promise<void> => {
    const { socket } = await client.tunnel(target, { key: access.agent.api_key })
    await assert.rejects(client.tls(socket, { servername }), problem)
  }
  const other = new URL(origin('other'))
  await refused(other.host, other.hostname, /altnames|ALTNAME/)
  await refused(host, other.hostname, /unrecognized name/)

  // Another certificate, without this host, is presented from the next handshake on.
  const next = await issueCertificate(made, ['next.test'])
  write(next.cert_file, next.key_file)
  await until('the new certificate is presented', async () => {
    const tunnel = await client.tunnel(host, { key: access.agent.api_key })
    const problem = await client.tls(tunnel.socket, { servername: hostname }).then(
      () => '',
      (error: Error) => error.message,
    )
    tunnel.socket.destroy()
    return problem.includes('next.test')
  })
  await operator.send('POST', `/admin/agents/${access.agent.agent_id}/kill`, {})
  assert.equal((await client.tunnel(host, { key: access.agent.api_key })).status, 403)
  connections.destroy()
})
