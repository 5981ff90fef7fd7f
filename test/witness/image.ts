import assert from 'node:assert/strict'
import { execFileSync, spawnSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { existsSync, mkdirSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { findEnvoy, findValkey } from '../../cli/deployment/binaries.ts'
import { composeFile } from '../kit/compose-file.ts'
import { type MainJob, mainJob } from '../kit/main-job.ts'
import { type ComposeStack, startCompose, type Wrap } from '../kit/start-compose.ts'
import { tempFolder } from '../kit/temp-folder.ts'
import { until } from '../kit/until.ts'
import {
  buildah,
  buildImage,
  CONTAINER_ENV,
  HOST_ARCH,
  HOST_PARTS,
  PLANTED_SECRETS,
  requireTools,
} from './build-image.ts'

/**
 * Builds the Dockerfile with buildah, without a container engine or a registry of images: the base is a Debian of
 * mmdebstrap with the Node of this machine. Looks into the image for secrets that were next to the sources, compilers and
 * files that its user can write, then runs all services of docker-compose.yml in it, as its user, each as PID 1 of its own on a
 * read-only root: the main job, a kill, crashes and a stop of ext-proc, and what happens without ext-proc and without the store.
 *
 *     apt-get install buildah mmdebstrap      (as root)
 *     node cli/prepare.mjs build && node dist/test/witness/image.js
 *
 * `--compile` compiles re2 in the image, as where GitHub cannot be reached; otherwise this machine's re2 stands for the
 * prebuilt file.
 *
 * `--arch arm64` does the same for another architecture, emulated, which takes many times as long:
 *
 *     apt-get install qemu-user-static binfmt-support arch-test
 *     ENVOY_BIN=… VALKEY_BIN=… node dist/test/witness/image.js --arch arm64 --node FOLDER [--re2 FILE]
 *
 * FOLDER has `bin/node` and `include/node` of that architecture, FILE is its re2.node; without it, re2 is compiled. The two
 * variables name programs of that architecture.
 */
const { values: options } = parseArgs({
  options: {
    compile: { type: 'boolean', default: false },
    arch: { type: 'string', default: HOST_ARCH },
    node: { type: 'string', default: HOST_PARTS.node },
    re2: { type: 'string' },
  },
})
const { arch } = options
const isForeign = arch !== HOST_ARCH
const prebuilt = options.re2 ?? (isForeign ? null : HOST_PARTS.re2)

const IMAGE = `localhost/agw-witness-${arch}`
const USER = '999:999'
const binaries = {
  envoyBin: process.env['ENVOY_BIN'] ?? null,
  valkeyBin: process.env['VALKEY_BIN'] ?? null,
  cacheDir: process.env['AGW_CACHE_DIR'] ?? null,
}
const say = (line: string): void => void process.stdout.write(`${line}\n`)
const seconds = (since_ms: number): string =>
  `${((performance.now() - since_ms) / 1000).toFixed(1)} s`

interface ImageConfig {
  readonly User: string
  readonly Entrypoint: readonly string[]
  readonly Env: readonly string[]
  readonly WorkingDir: string
}

const configOf = (container: string): ImageConfig =>
  JSON.parse(buildah('inspect', container)).OCIv1.config

const COMPILERS = ['gcc', 'g++', 'cc', 'make', 'python3', 'npm', 'npx', 'yarn', 'corepack', 'git']

function inspect(container: string): void {
  const root = buildah('mount', container)
  const { User: user, Entrypoint: entrypoint } = configOf(container)
  assert.equal(user, USER)
  assert.deepEqual(entrypoint, ['tini', '--', 'agw'])
  const grep = spawnSync('grep', ['-rlF', '--binary-files=text', PLANTED_SECRETS.text, root], {
    encoding: 'utf8',
  })
  assert.equal(grep.stdout, '', 'a planted secret is in the image')
  assert.equal(grep.status, 1)
  const inside = (command: string): string =>
    buildah('run', '--isolation', 'chroot', '--user', USER, container, '--', 'sh', '-c', command)
  for (const tool of COMPILERS) assert.equal(inside(`command -v ${tool} || true`), '', tool)
  const writable = inside(
    'find / -xdev \\( -type f -o -type d \\) -writable -not -path "/proc*" -not -path "/sys*" 2>/dev/null | sort',
  )
    .split('\n')
    .filter((path) => !/^\/(dev|tmp|run\/lock|var\/(tmp|lock))(\/|$)/.test(path))
  assert.deepEqual(writable, ['/run/agw', '/var/lib/agw'])
  const setuid = inside('find / -xdev -type f -perm /6000 2>/dev/null || true')
  assert.equal(setuid, '', 'a program that changes the user')
  const size = (path: string): string =>
    `${Math.round(Number(execFileSync('du', ['-sm', path], { encoding: 'utf8' }).split('\t')[0]))} MB`
  say(`user ${user}; whole image ${size(root)}, of it the gateway ${size(join(root, 'app'))}`)
  say(
    `${PLANTED_SECRETS.places.length} planted secrets: none in the image; ${COMPILERS.length} tools: none`,
  )
  const began = performance.now()
  say(`agw --version in ${container}: ${inside('agw --version')} (${seconds(began)})`)
}

async function runServices(container: string): Promise<void> {
  const secrets = {
    AGW_ADMIN_TOKEN: `agw_admin_${randomBytes(19).toString('hex')}`,
    AGW_ENCRYPTION_KEY: randomBytes(32).toString('base64'),
    AGW_VERDICT_SECRET: randomBytes(32).toString('hex'),
    AGW_EGRESS_ALLOW_CIDRS: '127.0.0.1/32',
  }
  const folder = tempFolder('image')
  const mounts = ['/run/agw', '/var/lib/agw', '/data'].map((place) => {
    mkdirSync(join(folder, place), { recursive: true, mode: 0o700 })
    return [join(folder, place), place] as const
  })
  execFileSync('chown', ['-R', USER, folder])
  const programs = [
    [await programOf('ENVOY_BIN', findEnvoy), '/usr/local/bin/envoy'],
    [await programOf('VALKEY_BIN', findValkey), '/usr/local/bin/valkey-server'],
  ] as const
  const inContainer = wrapIn(container, [...mounts, ...programs])
  const began = performance.now()
  const stack = await startCompose({
    services: composeFile(secrets).services,
    folder,
    inContainer,
  })
  try {
    say(`all services of docker-compose.yml ready in ${seconds(began)}, each as ${USER}`)
    const job = await mainJob({ ...stack, adminToken: secrets.AGW_ADMIN_TOKEN })
    say(
      `main job: 200 with the stored credential, 403 and 401, kill in ${job.kill.propagation_ms} ms`,
    )
    await survivesCrashes(stack)
    await stopsAsAsked(stack, job)
    assert.equal(exitCodeOf(inContainer(['agw', 'no-such-command'], {})), 2)
    await failsClosed('without ext-proc', () => stack.killService('ext-proc'), job.tryCall)
    await stack.start('ext-proc')
    await until('calls are allowed again', async () => (await job.tryCall()).status === 200)
    await failsClosed('without the store', () => stack.killService('valkey'), job.tryCall)
    await job.stop()
  } finally {
    stack.killAll()
  }
}

/** One of another architecture runs in the image only. */
async function programOf(
  variable: 'ENVOY_BIN' | 'VALKEY_BIN',
  find: (where: typeof binaries) => Promise<string>,
): Promise<string> {
  if (!isForeign) return await find(binaries)
  const program = process.env[variable]
  if (program === undefined) throw new Error(`${variable} has to name a program for ${arch}.`)
  return program
}

/** A command as the first process of a container: PIDs and mounts of its own, a root that it cannot write, and volumes. */
function wrapIn(container: string, volumes: readonly (readonly [string, string])[]): Wrap {
  const root = buildah('mount', container)
  const { Entrypoint, Env, WorkingDir } = configOf(container)
  for (const [from, to] of volumes)
    if (statSync(from).isDirectory()) mkdirSync(join(root, to), { recursive: true })
    else writeFileSync(join(root, to), '')
  const script = [
    'set -e',
    `mount --bind ${root} ${root}`,
    `mount -t proc proc ${root}/proc`,
    `mount --rbind /dev ${root}/dev`,
    `mount --rbind /sys ${root}/sys`,
    `mount -t tmpfs tmpfs ${root}/tmp`,
    ...volumes.map(([from, to]) => `mount --bind ${from} ${root}${to}`),
    `mount -o remount,ro,bind ${root}`,
    `exec chroot --userspec=${USER} --groups= ${root} env -i -C ${WorkingDir} "$@"`,
  ].join('\n')
  return ([program = '', ...args], env) => [
    'unshare',
    '--pid',
    '--fork',
    '--kill-child',
    '--mount',
    'sh',
    '-c',
    script,
    'sh',
    ...Env,
    ...Object.entries(env).map(([name, value]) => `${name}=${value}`),
    ...(program === 'agw' ? Entrypoint : [program]),
    ...args,
  ]
}

function exitCodeOf([program, ...args]: ReturnType<Wrap>): number | null {
  return spawnSync(program, args, { stdio: 'ignore' }).status
}

const outputOf = (program: string, ...args: readonly string[]): string =>
  spawnSync(program, args, { encoding: 'utf8' }).stdout

function childrenOf(pid: number): readonly number[] {
  return outputOf('pgrep', '-P', `${pid}`).split('\n').filter(Boolean).map(Number)
}

/** PID 1 of the container of a service. */
function firstProcess(stack: ComposeStack, service: string): number {
  const [pid] = childrenOf(stack.process(service).pid ?? 0)
  assert.ok(pid)
  return pid
}

const offspringOf = (pid: number): readonly number[] =>
  childrenOf(pid).flatMap((child) => [child, ...offspringOf(child)])

const EDGE = '/dist/ext-proc/main.js'

/** What an edge had started is nobody's child when the edge crashes; the first process has to reap it. */
async function survivesCrashes(stack: ComposeStack): Promise<void> {
  const first = firstProcess(stack, 'ext-proc')
  const edges = (): readonly number[] =>
    offspringOf(first).filter((pid) => outputOf('ps', '-o', 'args=', '-p', `${pid}`).includes(EDGE))
  const left: number[] = []
  for (let round = 0; round < 3; round++) {
    const [edge, ...others] = await until('an edge has processes of its own', () => {
      const [one, ...rest] = edges()
      return one !== undefined && childrenOf(one).length > 0 && [one, ...rest]
    })
    left.push(edge ?? 0, ...childrenOf(edge ?? 0))
    process.kill(edge ?? 0, 'SIGKILL')
    await until('another edge runs', () =>
      edges().some((pid) => pid !== edge && !others.includes(pid)),
    )
  }
  await until('nothing is left of the crashed edges', () =>
    left.every((pid) => !existsSync(`/proc/${pid}`)),
  )
  say(`3 crashes of an edge: none of its ${left.length} processes is left, zombies included`)
}

/** The first process passes the signal of a stop on: calls end, and so does the service, with 0. */
async function stopsAsAsked(stack: ComposeStack, job: MainJob): Promise<void> {
  await until('calls are allowed', async () => (await job.tryCall()).status === 200)
  const held = await job.holdCall()
  const ended = once(stack.process('ext-proc'), 'exit')
  process.kill(firstProcess(stack, 'ext-proc'), 'SIGTERM')
  held.release()
  assert.equal(await held.status, 200)
  assert.deepEqual(await ended, [0, null])
  await stack.start('ext-proc')
  await until('calls are allowed again', async () => (await job.tryCall()).status === 200)
  say('SIGTERM to ext-proc: the call in flight ends with 200, the service with 0')
}

const REFUSALS = 20

/**
 * Without the store an edge serves from its caches until its lease ends, so refusals must become permanent, not immediate. No
 * call that is refused reaches the API.
 */
async function failsClosed(
  what: string,
  remove: () => void,
  tryCall: () => Promise<{ readonly status: number; readonly reached: boolean }>,
): Promise<void> {
  remove()
  let refusals = 0
  await until(`${REFUSALS} refusals in a row ${what}`, async () => {
    const { status, reached } = await tryCall()
    assert.equal(reached, status === 200, `${status} ${what}`)
    refusals = status === 503 ? refusals + 1 : 0
    return refusals === REFUSALS
  })
  for (let n = 0; n < REFUSALS; n++)
    assert.deepEqual(await tryCall(), { status: 503, reached: false })
  say(`${what}: 503, and nothing reaches the API`)
}

requireTools('apt-get install buildah mmdebstrap', 'buildah', 'mmdebstrap')
await buildImage(IMAGE, { arch, node: options.node, re2: options.compile ? null : prebuilt })
const container = buildah('from', '--pull-never', '--arch', arch, IMAGE)
try {
  inspect(container)
  await runServices(container)
} finally {
  spawnSync('buildah', ['rm', container], { env: CONTAINER_ENV })
}
process.exit(0)
