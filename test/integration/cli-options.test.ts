import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { type Command, CommanderError } from 'commander'
import { parse as readYaml } from 'yaml'
import { makeProgram } from '../../cli/commands/main.ts'
import { fromRoot } from '../../core/system/root.ts'
import { adminOnStore } from '../kit/admin-on-store.ts'
import { tempFolder } from '../kit/temp-folder.ts'
import { until } from '../kit/until.ts'

const archive = tempFolder('archive')
const { admin, stop } = await adminOnStore({ AGW_ARCHIVE_DIR: archive })
after(stop)
const url = `http://127.0.0.1:${admin.port}`

const config = join(tempFolder('config'), 'agw.yaml')
writeFileSync(config, 'agents:\n  - agent_name: not there yet\n')

/** The id of a lock, once there is one. */
const LOCK: string[] = []

/** The rest of a command line with which each command gets as far as its options. */
const WORDS: Readonly<Record<string, readonly string[]>> = {
  kill: ['bot'],
  reactivate: ['bot', '--reason', 'test'],
  explain: ['bot', 'GET', 'https://api.example.com/'],
  apply: ['--file', config],
  diff: ['--file', config],
  env: ['bot'],
  run: ['bot', '--', 'true'],
  'ca rotate': ['prepare'],
  login: ['--url', url],
  backup: ['none'],
  restore: ['none'],
  add: ['github'],
  allow: ['bot', 'GET', 'https://api.example.com/'],
  'agents show': ['bot'],
  'integrations show': ['none'],
  'agents create': ['x'],
  'integrations create': ['x', 'https://x.example.com'],
  'connections create': ['x', '--integration', 'api', '--auth', 'none'],
  'scopes create': ['x', '--agent', 'bot', '--integration', 'api', '--allow', 'GET /**'],
  'webhooks create': ['x', 'https://x.example.com', '--events', 'agent_killed'],
  'tokens create': ['x@example.com', '--role', 'viewer'],
  'connections delete': ['of the api'],
  'connections show': ['none'],
  'scopes show': ['none'],
  'keys show': ['none'],
  'webhooks show': ['none'],
  'alerts show': ['none'],
  'kills show': ['none'],
  'edges show': ['none'],
  'tokens show': ['admin@localhost'],
  lock: ['agent', 'bot'],
  unlock: LOCK,
  'restore-gap accept': ['--all'],
  'locks show': ['none'],
  'requests show': ['none'],
  'requests approve': ['none'],
  'requests deny': ['none'],
}

/** Options whose effect is that other values are refused. */
const CHECKED_ONLY = new Set(['envoy-config --envoy', 'scan --output'])

/** Every command that does something, by the words that name it. */
function commandsOf(parent: Command, path: readonly string[] = []): [string, Command][] {
  return parent.commands.flatMap((command) => {
    const own = [...path, command.name()]
    const isLeaf = command.commands.length === 0
    return isLeaf ? [[own.join(' '), command] as [string, Command]] : commandsOf(command, own)
  })
}

const NAMES = commandsOf(makeProgram()).map(([name]) => name)

/** Ends a command once it has read all of its options, before it does more. */
class AllRead extends Error {}

/** @throws (rejects) when the command ends with options unread */
async function readsAll(name: string, words: readonly string[]): Promise<void> {
  const program = makeProgram()
  const command = commandsOf(program).find(([one]) => one === name)?.[1]
  assert.ok(command)
  const unread = new Map(
    command.options
      .filter(({ long, argChoices }) => !(CHECKED_ONLY.has(`${name} ${long}`) && argChoices))
      .map((option) => [option.attributeName(), option.long ?? option.flags]),
  )
  if (unread.size === 0) return
  const get = (all: object, member: string | symbol): unknown => {
    unread.delete(String(member))
    if (unread.size === 0) throw new AllRead()
    return Reflect.get(all, member)
  }
  const values = command.opts.bind(command)
  command.opts = <T>() => new Proxy(values() as object, { get }) as T
  const problem = await parse(program, name, words).catch((error: unknown) => error)
  assert.ok(
    problem instanceof AllRead,
    `${[...unread.values()].join(', ')} unread: ${String(problem)}`,
  )
}

const parse = (program: Command, name: string, words: readonly string[]): Promise<unknown> =>
  program.parseAsync(['node', 'agw', ...name.split(' '), ...words])

const isArchiveId = (name: string | Buffer): boolean => basename(String(name)) === 'archive-id'

before(async () => {
  await admin.call('POST', '/admin/agents', { body: { agent_name: 'bot' } })
  const api = { name: 'api', base_url: 'https://api.example.com', auth: { type: 'none' } }
  const made = await admin.call('POST', '/admin/integrations', { body: api })
  await admin.call('POST', `/admin/integrations/${made.body.integration_id}/connections`, {
    body: { name: 'of the api', auth: { type: 'none' } },
  })
  const lock = await admin.call('POST', '/admin/locks', { body: { target: { everything: true } } })
  LOCK.push(lock.body.lock_id)
  await until('an archive', () => readdirSync(archive, { recursive: true }).some(isArchiveId))
  Object.assign(process.env, {
    AGW_URL: url,
    AGW_TOKEN: admin.token,
    AGW_ENCRYPTION_KEY: admin.encryption_key,
    AGW_ARCHIVE_DIR: archive,
    AGW_VERDICT_SECRET: 'a'.repeat(32),
    AGW_EXT_PROC_ADDRESS: 'unix:/run/agw/ext-proc.sock',
    XDG_CONFIG_HOME: tempFolder('config-home'),
  })
})

describe('a command', () => {
  for (const name of NAMES) {
    test(`agw ${name} uses every option that it has`, () => readsAll(name, WORDS[name] ?? []))

    test(`agw ${name} refuses an option that it has not, and says where its options are`, async () => {
      const program = makeProgram()
      let said = ''
      const command = commandsOf(program).find(([one]) => one === name)?.[1]
      command?.configureOutput({ writeErr: (text) => void (said += text) })
      const words = ['--no-such-option', ...(WORDS[name] ?? [])]
      await assert.rejects(parse(program, name, words), { code: 'commander.unknownOption' })
      assert.match(said, /^error: unknown option '--no-such-option'\n/)
      assert.ok(said.includes(`run agw ${name} --help for its arguments and options)`), said)
    })
  }

  const refusals = [
    ['env', ['bot', '-o', 'file'], /unknown option '-o'\n.*use > FILE to write a file/],
    ['run', ['bot', 'curl', '-o', 'file'], /unknown option '-o'\n.*agw run AGENT -- COMMAND/],
    ['doctor', ['--envoy-admin', 'unix:/x', '--url', 'http://x'], /cannot be used with .*'--url/],
  ] as const
  for (const [name, words, expected] of refusals)
    test(`agw ${[name, ...words].join(' ')} is refused, with what to do`, async () => {
      const program = makeProgram()
      let said = ''
      const command = program.commands.find((one) => one.name() === name)
      command?.configureOutput({ writeErr: (text) => void (said += text) })
      await assert.rejects(parse(program, name, words), CommanderError)
      assert.match(said, expected)
    })
})

test('agw envoy-config refuses what the configuration of a mode has no place for', async () => {
  for (const mode of ['listener', 'virtual-host', 'filter', 'envoy-gateway', 'istio'])
    for (const words of [
      ['--envoy-admin-socket', '/run/agw/envoy-admin.sock'],
      ['--envoy-memory', '2GiB'],
      ['--envoy-memory', 'cgroup'],
    ]) {
      const hostname = mode === 'virtual-host' ? ['--hostname', 'api.example.com'] : []
      const given = ['--mode', mode, ...hostname, ...words]
      await assert.rejects(parse(makeProgram(), 'envoy-config', given), /go with --mode standalone/)
    }
})

test('agw activity refuses --no-headers for JSON, which has no headings', async () => {
  const given = ['--no-headers', '-o', 'json']
  await assert.rejects(parse(makeProgram(), 'activity', given), /goes with --output table/)
})

test('only commands that run the scanner load a compiled package', async () => {
  const list = pathToFileURL(fromRoot('cli', 'native-commands.mjs')).href
  const { NATIVE_COMMANDS } = (await import(list)) as { NATIVE_COMMANDS: ReadonlySet<string> }
  const isNative = (name: string): boolean => NATIVE_COMMANDS.has(name.split(' ')[0] ?? '')
  // `scan` shows that the hook works.
  const names = ['--version', ...NAMES.filter((name) => !isNative(name)), 'scan']
  const lines = names.map((name) => [name, [...name.split(' '), ...(WORDS[name] ?? [])]])
  const script = `const tried = []
    process.dlopen = (_, file) => { tried.push(file); throw new Error('refused') }
    process.stdout.write = () => true
    const loads = []
    for (const [name, words] of ${JSON.stringify(lines)}) {
      require('node:fs').writeSync(2, '> ' + name + '\\n')
      process.argv = ['node', 'agw', ...words]
      const before = tried.length
      await import(${JSON.stringify(pathToFileURL(fromRoot('dist', 'cli', 'bin.js')).href)} + '?' + encodeURIComponent(name))
      if (tried.length > before) loads.push(name)
    }
    require('node:fs').writeSync(1, JSON.stringify(loads))
    process.exit(0)`
  const dead = { AGW_URL: 'http://127.0.0.1:1', AGW_TOKEN: 'x', AGW_DATA_DIR: tempFolder('data') }
  const running = promisify(execFile)(
    process.execPath,
    ['-e', `void (async () => {${script}})()`],
    { env: { ...process.env, ...dead } },
  )
  running.child.stdin?.end()
  const { stdout, stderr } = await running
  assert.equal(stdout, '["scan"]', stderr)
})

test('agw envoy-config --hostname takes a port for a virtual host of Envoy alone', async (t) => {
  const env = {
    AGW_VERDICT_SECRET: 'a'.repeat(64),
    AGW_EXT_PROC_ADDRESS: 'unix:/run/agw/ext-proc.sock',
  }
  const before = { ...process.env }
  Object.assign(process.env, env)
  t.after(() => {
    process.env = before
  })
  const output = join(tempFolder('hostname'), 'parts.yaml')
  const given = ['--hostname', 'agents.example.com,agents.example.com:10000', '--output', output]
  await parse(makeProgram(), 'envoy-config', ['--mode', 'virtual-host', ...given])
  const { virtual_host } = readYaml(readFileSync(output, 'utf8'))
  assert.deepEqual(virtual_host.domains, ['agents.example.com', 'agents.example.com:10000'])
  for (const name of ['a.example.com:0', 'a.example.com:', 'a.example.com:x', 'a b:1'])
    await assert.rejects(
      parse(makeProgram(), 'envoy-config', ['--mode', 'virtual-host', '--hostname', name]),
      /--hostname/,
    )
  await assert.rejects(
    parse(makeProgram(), 'envoy-config', ['--mode', 'istio', '--hostname', 'a.example.com:10000']),
    /neither a host name/,
  )
})

test('agw envoy-config --mode virtual-host asks for the host names', async () => {
  const given = ['--mode', 'virtual-host']
  await assert.rejects(
    parse(makeProgram(), 'envoy-config', given),
    /^Error: --mode virtual-host needs --hostname NAMES\.$/,
  )
})
