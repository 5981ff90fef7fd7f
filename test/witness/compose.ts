import assert from 'node:assert/strict'
import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { chmodSync, cpSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { findEnvoy, findValkey } from '../../cli/deployment/binaries.ts'
import { fromRoot } from '../../core/system/root.ts'
import { type ComposeServices, composeFile } from '../kit/compose-file.ts'
import { type MainJob, mainJob } from '../kit/main-job.ts'
import { operatorAt } from '../kit/operator.ts'
import { tempFolder } from '../kit/temp-folder.ts'
import { until } from '../kit/until.ts'
import {
  CONTAINER_ENV,
  copySources,
  HOST_ARCH,
  HOST_PARTS,
  isImage,
  makeBase,
  makeDebianImage,
  requireTools,
  startMirror,
} from './build-image.ts'

/**
 * Runs docker-compose.yml with a container engine: Podman with runc, driven by podman-compose, on a copy of the sources. Builds
 * the image with `up --build`, then: what the engine made of the hardening, the main job over the published ports, every command
 * of the containers guide, the end of an edge, a restart of the stack, a stop with a call in flight, `down`.
 *
 *     apt-get install podman runc buildah mmdebstrap netavark aardvark-dns iptables      (as root)
 *     pip install podman-compose
 *     node cli/prepare.mjs build && node dist/test/witness/compose.js
 *
 * The base images come from no registry: Debian 12 with this machine's Node, Envoy and Valkey.
 */
const PROJECT = 'agw-witness'
const BASES = {
  AGW_ENVOY_IMAGE: 'localhost/agw-witness-envoy',
  AGW_VALKEY_IMAGE: 'localhost/agw-witness-valkey',
}
const PROXY_URL = 'http://127.0.0.1:8080'
const API_URL = 'http://127.0.0.1:8081'
const binaries = {
  envoyBin: process.env['ENVOY_BIN'] ?? null,
  valkeyBin: process.env['VALKEY_BIN'] ?? null,
  cacheDir: process.env['AGW_CACHE_DIR'] ?? null,
}
const SECRETS = {
  AGW_ADMIN_TOKEN: `agw_admin_${randomBytes(19).toString('hex')}`,
  AGW_ENCRYPTION_KEY: randomBytes(32).toString('base64'),
  AGW_VERDICT_SECRET: randomBytes(32).toString('hex'),
}
const SETTINGS = {
  ...SECRETS,
  ...BASES,
  // Podman's networks, where the API of this witness is.
  AGW_EGRESS_ALLOW_CIDRS: '10.88.0.0/13',
}
const { services } = composeFile(SETTINGS)
const say = (line: string): void => void process.stdout.write(`${line}\n`)
const began = performance.now()

async function makeBases(): Promise<void> {
  const put = (program: string, name: string) => (root: string) => {
    cpSync(program, join(root, 'usr/local/bin', name), { dereference: true })
    chmodSync(join(root, 'usr/local/bin', name), 0o755)
  }
  const { AGW_ENVOY_IMAGE: envoy, AGW_VALKEY_IMAGE: valkey } = BASES
  if (!isImage(envoy))
    makeDebianImage(envoy, { arch: HOST_ARCH }, put(await findEnvoy(binaries), 'envoy'))
  if (isImage(valkey)) return
  const server = await findValkey(binaries)
  makeDebianImage(valkey, { arch: HOST_ARCH, packages: ['redis-tools'] }, (root) => {
    put(server, 'valkey-server')(root)
    put(join(root, 'usr/bin/redis-cli'), 'valkey-cli')(root)
    // As in the public image: the user of the number 999 owns the folder of the data.
    mkdirSync(join(root, 'data'))
    execFileSync('chown', ['999:999', join(root, 'data')])
  })
}

/** `docker` for the commands of the guide; podman-compose has no `cp`. */
function makeDocker(folder: string, mirror: string): string {
  const bin = join(folder, 'bin')
  mkdirSync(bin)
  const build = [
    '--isolation chroot --pull=never',
    `--build-arg NODE_IMAGE=${makeBase(HOST_PARTS)} --build-arg RE2_DOWNLOAD_MIRROR=${mirror}`,
  ].join(' ')
  const script = [
    '#!/bin/sh',
    '[ "$1" = compose ] || exit 64',
    'shift',
    `compose() { podman-compose -p ${PROJECT} --podman-build-args '${build}' "$@"; }`,
    'case "$1" in',
    `  cp) exec podman cp "${PROJECT}_$(echo "$2" | sed 's/:/_1:/')" "$3" ;;`,
    '  exec) shift; compose exec -T "$@" ;;',
    '  *) compose "$@" ;;',
    'esac',
  ].join('\n')
  writeFileSync(join(bin, 'docker'), script, { mode: 0o755 })
  writeFileSync(
    join(folder, 'containers.conf'),
    [
      '[containers]',
      'default_ulimits = ["nofile=4096:4096", "nproc=1000:1000"]',
      '[engine]',
      'runtime = "runc"',
      'cgroup_manager = "cgroupfs"',
      'events_logger = "file"',
    ].join('\n'),
  )
  return bin
}

const sources = copySources()
const tools = tempFolder('compose')
let env: NodeJS.ProcessEnv = CONTAINER_ENV

interface Ran {
  readonly code: number | null
  readonly output: string
}

/** A command line in the folder of the sources, as a reader of the guide runs it. */
function sh(command: string): Promise<Ran> {
  const child = spawn('bash', ['-c', command], {
    cwd: sources,
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let output = ''
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => {
      output += text
    })
  return new Promise((resolve) => child.once('close', (code) => resolve({ code, output })))
}

async function mustRun(command: string): Promise<string> {
  const { code, output } = await sh(command)
  assert.equal(code, 0, `${command}\n${output.slice(-6_000)}`)
  return output
}

const nameOf = (service: string): string => `${PROJECT}_${service}_1`
const inspect = async (service: string): Promise<any> =>
  JSON.parse(await mustRun(`podman inspect ${nameOf(service)}`))[0]

/** Without systemd Podman runs no health check by itself. */
async function untilHealthy(): Promise<void> {
  for (const [name, { healthcheck }] of Object.entries(services))
    if (healthcheck !== undefined)
      await until(`${name} is healthy`, async () => {
        const { code } = await sh(`podman healthcheck run ${nameOf(name)}`)
        return code === 0
      }).catch(async (error: Error) => {
        throw new Error(`${error.message}\n${(await sh(`podman logs ${nameOf(name)}`)).output}`)
      })
  await until('the gateway is ready', async () => {
    const answer = await fetch(`${API_URL}/readyz`).catch(() => null)
    return answer?.status === 200
  })
}

/** What the file says of a container is what the engine made of it. */
async function isHardened(file: ComposeServices): Promise<void> {
  for (const [name, service] of Object.entries(file)) {
    const { Config, HostConfig, EffectiveCaps } = await inspect(name)
    assert.equal(Config.User, service.user, name)
    assert.equal(HostConfig.ReadonlyRootfs, true, name)
    assert.deepEqual(EffectiveCaps ?? [], [], name)
    assert.ok(HostConfig.SecurityOpt.join().includes('no-new-privileges'), name)
    const environment = JSON.stringify(Config.Env)
    for (const [secret, value] of Object.entries(SECRETS))
      assert.equal(environment.includes(value), secret in (service.environment ?? {}), name)
  }
  const { HostConfig } = await inspect('envoy')
  assert.equal(HostConfig.Memory, 2 ** 30)
  const config = await mustRun(`podman exec ${nameOf('envoy')} cat /run/agw/envoy.yaml`)
  assert.match(config, /cgroup/, 'Envoy reads the memory limit of its container')
}

/** The lines of the containers guide. */
function guideCommands(): readonly string[] {
  const guide = readFileSync(fromRoot('docs', 'guides', 'deploy.md'), 'utf8')
  const section = guide.split(/^## /m).find((each) => each.startsWith('Containers')) ?? ''
  const blocks = [...section.matchAll(/^```sh\n([\s\S]*?)^```/gm)].map(([, block]) => block)
  const lines = blocks.join('').split('\n').filter(Boolean)
  assert.ok(lines.length >= 7, 'the guide has its commands')
  return lines
}

async function followGuide(commands: readonly string[]): Promise<void> {
  const operator = operatorAt(API_URL, SECRETS.AGW_ADMIN_TOKEN)
  const { agent_id, agent_name } = await operator.makeAgent()
  const outputs = new Map<string, string>()
  for (const command of commands)
    outputs.set(command, await mustRun(command.replace('AGENT', agent_id)))
  const outputOf = (word: string): string =>
    [...outputs].find(([command]) => command.includes(word))?.[1] ?? ''
  assert.match(outputOf('agw agents'), new RegExp(agent_name))
  const agent = await operator.send('GET', `/admin/agents/${agent_id}`)
  assert.equal(agent.status, 'killed')
  assert.ok(existsSync(join(sources, 'backup-1')), 'the backup was copied')
  say(`${commands.length} commands of the containers guide: each ended with 0`)
}

/** The restart policy of the file; the kill flags outlast it. */
async function survivesTheEndOfAnEdge(job: MainJob): Promise<void> {
  const { State } = await inspect('ext-proc')
  await mustRun(`podman exec ${nameOf('ext-proc')} sh -c 'kill -9 -1' || true`)
  await until('the container runs again', async () => {
    const { State: now } = await inspect('ext-proc')
    return now.Running && now.StartedAt !== State.StartedAt
  })
  await until('calls are allowed again', async () => (await job.tryCall()).status === 200)
  say('the processes of ext-proc killed: the engine starts the container again, calls are allowed')
}

async function stopsWithACallInFlight(job: MainJob, drain: string, stop: string): Promise<void> {
  const held = await job.holdCall()
  const status = held.status.catch(String)
  const stopping = mustRun(drain)
  await until('Envoy accepts no new connections', () =>
    fetch(PROXY_URL).then(
      () => false,
      () => true,
    ),
  )
  held.release()
  assert.equal(await status, 200, 'a call in flight when the stop began')
  await stopping
  await mustRun(stop)
  for (const name of Object.keys(services)) {
    const { State } = await inspect(name)
    assert.equal(State.Running, false, name)
    assert.ok([0, 143].includes(State.ExitCode), `${name} ended with ${State.ExitCode}`)
  }
  say('stop with a call in flight: it ends with 200; no container had to be killed')
}

async function run(): Promise<void> {
  const lines = guideCommands()
  const commands = lines.slice(1, -3)
  const [up = '', drain = '', stop = '', again = ''] = [lines[0], ...lines.slice(-3)]
  assert.equal(up, 'docker compose up -d --build')
  assert.deepEqual([drain, stop], ['docker compose stop drain', 'docker compose stop'])
  await mustRun(up)
  await untilHealthy()
  say(`up: all services healthy after ${((performance.now() - began) / 1000).toFixed(0)} s`)
  await isHardened(services)
  say('user, read-only root, no capabilities, no new privileges, memory limit: as in the file')
  const network = JSON.parse(await mustRun(`podman network inspect ${PROJECT}_default`))[0]
  const job = await mainJob({
    proxyUrl: PROXY_URL,
    apiUrl: API_URL,
    adminToken: SECRETS.AGW_ADMIN_TOKEN,
    apiHost: network.subnets[0].gateway,
  })
  try {
    say(`main job: 200 with the stored credential, 403, 401, kill in ${job.kill.propagation_ms} ms`)
    await followGuide(commands)
    await survivesTheEndOfAnEdge(job)
    await stopsWithACallInFlight(job, drain, stop)
    await mustRun(again)
    await untilHealthy()
    await until('calls are allowed again', async () => (await job.tryCall()).status === 200)
    say('started again: agents, scopes and credentials are there, calls are allowed')
  } finally {
    await job.stop()
  }
}

requireTools(
  'apt-get install podman runc buildah mmdebstrap netavark aardvark-dns iptables; pip install podman-compose',
  'podman',
  'runc',
  'buildah',
  'mmdebstrap',
  'podman-compose',
  'iptables',
)
await makeBases()
const mirror = await startMirror(HOST_PARTS.re2)
env = {
  ...CONTAINER_ENV,
  AGW_ADMIN_TOKEN: SECRETS.AGW_ADMIN_TOKEN,
  PATH: `${makeDocker(tools, mirror.url)}:${process.env['PATH']}`,
  CONTAINERS_CONF: join(tools, 'containers.conf'),
}
writeFileSync(
  join(sources, '.env'),
  Object.entries(SETTINGS)
    .map(([name, value]) => `${name}=${value}\n`)
    .join(''),
)
let code = 0
try {
  await run()
} catch (error) {
  code = 1
  say(String(error instanceof Error ? error.stack : error))
  say((await sh('podman ps -a')).output)
  for (const name of Object.keys(services))
    say(`--- ${name}\n${(await sh(`podman logs --tail 20 ${nameOf(name)}`)).output}`)
} finally {
  const down = spawnSync('docker', ['compose', 'down', '-v'], { cwd: sources, env })
  if (down.status !== 0) code = 1
  const left = spawnSync('podman', ['ps', '-aq'], { env, encoding: 'utf8' }).stdout
  if (left !== '') code = 1
  say(`down: ${left === '' ? 'no container is left' : left}`)
  mirror.stop()
}
process.exit(code)
