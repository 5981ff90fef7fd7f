import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, readFileSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { after, describe, test } from 'node:test'
import { fromRoot } from '../../core/system/root.ts'
import { freePort } from '../kit/free-port.ts'
import { type ChildRole, startStack } from '../kit/start-stack.ts'
import { tempFolder } from '../kit/temp-folder.ts'
import { until } from '../kit/until.ts'

// Processes that hang, and launchers that lose their parent.

const ROLES: readonly ChildRole[] = ['valkey', 'admin', 'ext-proc', 'access-log', 'echo', 'envoy']

/** A folder with a `systemd-notify` that records its arguments, and the file that it records them in. */
function fakeSystemd(): { readonly env: Record<string, string>; readonly states: () => string } {
  const bin = tempFolder('systemd')
  const file = join(bin, 'states')
  writeFileSync(file, '')
  writeFileSync(join(bin, 'systemd-notify'), `#!/bin/sh\necho "$*" >> '${file}'\n`)
  chmodSync(join(bin, 'systemd-notify'), 0o755)
  return {
    env: {
      PATH: `${bin}:${process.env['PATH']}`,
      NOTIFY_SOCKET: join(bin, 'socket'),
      WATCHDOG_USEC: '1500000',
    },
    states: () => readFileSync(file, 'utf8'),
  }
}

test('every child that hangs is killed and started again, and the whole works afterwards', async () => {
  const systemd = fakeSystemd()
  const stack = await startStack({ AGW_WATCHDOG_TIMEOUT: '2s', ...systemd.env })
  await until('systemd knows that it is ready', () => systemd.states().includes('READY=1'))
  const before = new Map<ChildRole, number>()
  for (const role of ROLES) before.set(role, (await stack.pids(role))[0] ?? 0)
  for (const pid of before.values()) process.kill(pid, 'SIGSTOP')
  for (const [role, pid] of before)
    await until(`another ${role} runs`, async () => {
      const [now] = await stack.pids(role)
      return now !== undefined && now !== pid
    })
  await stack.ready()
  for (const name of ['valkey', 'admin', 'ext-proc-1', 'access-log', 'echo', 'envoy'])
    assert.match(
      stack.log(),
      new RegExp(` agw: ${name} has not answered for \\d+ s and is killed$`, 'm'),
    )
  // What a start after a crash would end are the processes that run now.
  const noted = JSON.parse(readFileSync(join(stack.dataDir, 'children.json'), 'utf8')) as number[]
  const running = (await Promise.all(ROLES.map((role) => stack.pids(role)))).flat()
  assert.deepEqual(new Set(noted), new Set(running))
  assert.equal(await stack.stop(), 0)
  assert.match(
    systemd.states(),
    /^(WATCHDOG=1\n)*READY=1\n(WATCHDOG=1\n)+STOPPING=1\n(WATCHDOG=1\n)*$/,
  )
})

interface NpmStart {
  readonly npm: ChildProcess
  readonly ports: readonly number[]
}

const started: ChildProcess[] = []
after(() => {
  for (const npm of started) npm.kill('SIGKILL')
})

/** `npm start` in this checkout, as an operator types it. */
async function npmStart(): Promise<NpmStart> {
  const ports = await Promise.all([freePort(), freePort(), freePort(), freePort()])
  const [proxy, api, echo, forward] = ports
  const { PATH = '', HOME = '', ENVOY_BIN = '', VALKEY_BIN = '', AGW_CACHE_DIR = '' } = process.env
  const npm = spawn('npm', ['start'], {
    cwd: fromRoot(),
    env: {
      PATH,
      HOME,
      ENVOY_BIN,
      VALKEY_BIN,
      AGW_CACHE_DIR,
      AGW_DATA_DIR: tempFolder('npm-start'),
      AGW_PROXY_PORT: String(proxy),
      AGW_API_PORT: String(api),
      AGW_ECHO_PORT: String(echo),
      AGW_FORWARD_PORT: String(forward),
      AGW_EXT_PROC_WORKERS: '1',
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  started.push(npm)
  let log = ''
  for (const output of [npm.stdout, npm.stderr])
    output.setEncoding('utf8').on('data', (text: string) => {
      log += text
    })
  await until('npm start has printed what to try', () => {
    if (npm.exitCode !== null) throw new Error(`npm start ended:\n${log}`)
    return log.includes('Ctrl-C stops')
  })
  return { npm, ports }
}

const isOpen = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1')
    socket.once('connect', () => {
      socket.destroy()
      resolve(true)
    })
    socket.once('error', () => resolve(false))
  })

describe('no process outlives npm start', { concurrency: true }, () => {
  for (const signal of ['SIGTERM', 'SIGKILL'] as const)
    test(signal, async () => {
      const { npm, ports } = await npmStart()
      assert.deepEqual(await Promise.all(ports.map(isOpen)), [true, true, true, true])
      const exited = once(npm, 'exit')
      npm.kill(signal)
      await exited
      await until('no port is open', async () =>
        (await Promise.all(ports.map(isOpen))).every((open) => !open),
      )
    })
})
