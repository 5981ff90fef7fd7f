import assert from 'node:assert/strict'
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { existsSync, readFileSync, symlinkSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { pathToFileURL } from 'node:url'
import { checkGateway } from '../../cli/doctor/check-gateway.ts'
import { fromRoot } from '../../core/system/root.ts'
import { version } from '../../core/system/version.ts'
import { call, closeConnections } from '../kit/call.ts'
import { freePort } from '../kit/free-port.ts'
import { mainJob } from '../kit/main-job.ts'
import { type Access, operatorAt } from '../kit/operator.ts'
import { newAdminIdentity } from '../kit/start-admin.ts'
import { type KitEnvoy, startEnvoy } from '../kit/start-envoy.ts'
import { startUpstream } from '../kit/start-upstream.ts'
import { startValkey } from '../kit/start-valkey.ts'
import { tempFolder } from '../kit/temp-folder.ts'
import { until } from '../kit/until.ts'

// Upgrades a deployment from release 0.2.0 to this version under calls, process by process, in the order of the guide (edges,
// then admin) and in the other one; after each step, admin and edges of both versions do the main job, and `agw doctor` names
// the versions:
//   node cli/prepare.mjs build && node dist/test/witness/rolling-upgrade.js [FOLDER-OF-THE-BUILT-RELEASE]
// Without a folder, the release is checked out from git and built in a temporary one (a minute).

const RELEASE = '5f7ea79'
const RATE = 20

const say = (line: string): void => void process.stdout.write(`${line}\n`)

function buildRelease(): string {
  const folder = join(tempFolder('release'), 'checkout')
  const git = (...args: readonly string[]) => execFileSync('git', args, { cwd: fromRoot() })
  git('worktree', 'add', '--detach', '--quiet', folder, RELEASE)
  process.once('exit', () => git('worktree', 'remove', '--force', folder))
  symlinkSync(fromRoot('node_modules'), join(folder, 'node_modules'))
  execFileSync(process.execPath, [join('cli', 'prepare.mjs'), 'build'], { cwd: folder })
  return folder
}

const given = process.argv[2]
const release = given === undefined ? buildRelease() : resolve(given)
assert.ok(existsSync(join(release, 'dist', 'admin', 'main.js')))
const older: string = JSON.parse(readFileSync(join(release, 'package.json'), 'utf8')).version
assert.notEqual(older, version)

interface Process {
  readonly child: ChildProcess
  readonly log: () => string
}

function start(program: string, env: Readonly<Record<string, string>>): Process {
  const child = spawn(process.execPath, [program], {
    env: { PATH: process.env['PATH'], ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  process.once('exit', () => child.kill('SIGKILL'))
  let log = ''
  for (const output of [child.stdout, child.stderr])
    output.setEncoding('utf8').on('data', (text: string) => {
      log += text
    })
  return { child, log: () => log }
}

async function end({ child }: Process): Promise<void> {
  if (child.exitCode !== null) return
  const exited = once(child, 'exit')
  child.kill('SIGTERM')
  await exited
}

type StartEnvoy = typeof startEnvoy

async function upgrade(order: readonly ('edges' | 'admin' | 'envoy')[]): Promise<void> {
  const folder = tempFolder('upgrade')
  const valkey = await startValkey()
  const identity = newAdminIdentity()
  const verdict_secret = randomBytes(32).toString('hex')
  const addresses = ['a', 'b'].map((name) => `unix:${join(folder, `${name}.sock`)}`)
  const settings = {
    REDIS_URL: valkey.url,
    AGW_ENCRYPTION_KEY: identity.encryption_key,
    AGW_EGRESS_ALLOW_CIDRS: '127.0.0.0/8',
  }
  const { startEnvoy: startOlderEnvoy } = (await import(
    pathToFileURL(join(release, 'dist', 'test', 'kit', 'start-envoy.js')).href
  )) as { startEnvoy: StartEnvoy }
  const envoyEnv = { ...settings, ENVOY_BIN: process.env['ENVOY_BIN'] }
  const facts = { ext_proc_addresses: addresses, verdict_secret }
  let envoy: KitEnvoy = await startOlderEnvoy(envoyEnv, facts)
  const edgeOf = async (i: number, root: string): Promise<Process> => {
    const edge = start(join(root, 'dist', 'ext-proc', 'main.js'), {
      ...settings,
      AGW_VERDICT_SECRET: verdict_secret,
      AGW_EXT_PROC_ADDRESS: addresses[i] ?? '',
      AGW_EDGE_ID: `edge-${i + 1}`,
      AGW_EDGE_BOOT: 'upgrade',
    })
    await until(`edge ${i + 1} serves`, () => {
      if (edge.child.exitCode !== null) throw new Error(edge.log())
      return edge.log().includes('"serving"')
    })
    return edge
  }
  const port = await freePort()
  const apiUrl = `http://127.0.0.1:${port}`
  const adminOf = async (root: string): Promise<Process> => {
    const admin = start(join(root, 'dist', 'admin', 'main.js'), {
      ...settings,
      AGW_API_PORT: String(port),
      AGW_ADMIN_TOKEN: identity.token,
    })
    await until('admin is ready', async () => {
      if (admin.child.exitCode !== null) throw new Error(admin.log())
      return (await fetch(`${apiUrl}/healthz`).catch(() => null))?.ok
    })
    return admin
  }
  let admin = await adminOf(release)
  const edges = [await edgeOf(0, release), await edgeOf(1, release)]
  const api = await startUpstream((_request, response) => void response.end('ok'))
  const operator = operatorAt(apiUrl, identity.token)
  const access = await operator.makeAccess(`${api.origin}/v1`, {
    scope: { rate_limiting: { requests_per_minute: null } },
  })
  const load = callSteadily(() => envoy.url, access)

  const check = async (step: string): Promise<void> => {
    const job = await mainJob({ proxyUrl: envoy.url, apiUrl, adminToken: identity.token })
    await job.stop()
    const found = await checkGateway(apiUrl, identity.token)
    const versions = found.find((one) => one.check === 'versions')
    say(`    ${step}: main job, kill on ${job.kill.edges} edges; doctor: ${versions?.says}`)
    const isMixed = versions?.says.includes(older) === true
    assert.equal(versions?.state, isMixed ? 'warning' : 'ok')
  }
  await check(`all ${older}`)
  for (const what of order) {
    if (what === 'admin') {
      await end(admin)
      admin = await adminOf(fromRoot())
      await check(`admin ${version}`)
    }
    if (what === 'envoy') {
      const before = envoy
      envoy = await startEnvoy(envoyEnv, facts)
      await until('the new Envoy decides', async () => {
        const answer = await fetch(`${envoy.url}/not-a-url`).catch(() => null)
        return answer?.status === 400
      })
      await load.pause(() => before.stop())
      await check(`the Envoy of ${version}`)
    }
    if (what === 'edges')
      for (const i of edges.keys()) {
        const edge = edges[i]
        if (edge !== undefined) await end(edge)
        edges[i] = await edgeOf(i, fromRoot())
        await check(`edge ${i + 1} ${version}`)
      }
  }
  const { failed, calls } = await load.stop()
  const log = await operator.send(
    'GET',
    `/admin/activity?agent_id=${access.agent.agent_id}&limit=1`,
  )
  assert.equal(log.data.length, 1)
  await Promise.all([...edges.map(end), end(admin), envoy.stop(), api.stop()])
  await valkey.stop()
  assert.deepEqual(failed, [], `${failed.length} of ${calls} calls`)
  say(`ok  ${older} to ${version}, ${order.join(', then ')}: 0 of ${calls} calls failed`)
}

/** Calls at a steady rate, sent whether or not earlier ones were answered. */
function callSteadily(to: () => string, access: Access) {
  const failed: string[] = []
  let calls = 0
  let isOver = false
  const running = new Set<Promise<void>>()
  const once_ = async (): Promise<void> => {
    const path = `/${access.base_url}/ok`
    const answer = await call({ to: to(), path, headers: access.headers }).catch(
      (error: Error) => error,
    )
    if (answer instanceof Error) failed.push(answer.message)
    else if (answer.status !== 200) failed.push(`${answer.status} ${answer.body.toString()}`)
  }
  const loop = (async () => {
    while (!isOver) {
      calls++
      const one = once_()
      running.add(one)
      void one.finally(() => running.delete(one))
      await wait(1000 / RATE)
    }
  })()
  return {
    /** New calls go to the new address already; those before end first. */
    pause: async (then: () => Promise<void>): Promise<void> => {
      await Promise.all(running)
      await then()
    },
    stop: async () => {
      isOver = true
      await loop
      await Promise.all(running)
      return { failed, calls }
    },
  }
}

await upgrade(['edges', 'admin', 'envoy'])
await upgrade(['admin', 'edges', 'envoy'])
closeConnections()
