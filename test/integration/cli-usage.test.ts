import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { describe, test } from 'node:test'
import { fromRoot } from '../../core/system/root.ts'

const agw = (...args: readonly string[]) =>
  new Promise<{ status: unknown; stderr: string }>((resolve) => {
    execFile(
      process.execPath,
      [fromRoot('dist', 'cli', 'bin.js'), ...args],
      { env: { ...process.env, AGW_TOKEN: 'agw_admin_none', AGW_URL: '' } },
      (error, _stdout, stderr) => resolve({ status: error?.code ?? 0, stderr }),
    )
  })

const wrong: readonly [args: readonly string[], says: RegExp][] = [
  [['activity', '--event', 'none'], /Allowed choices are request_allowed, /],
  [['activity', '--url', 'localhost:8081'], /must start with http:\/\/ or https:\/\//],
  [['scan', '-o', 'table'], /Allowed choices are json/],
  [['lock', 'everything', 'bot'], /takes no name. Nothing is locked/],
  [['lock', 'agent'], /needs a name or an id/],
  [['kill'], /missing required argument 'agent'/],
  [['apply', '--keys-out', 'keys'], /required option '-f, --file <file>'/],
  [['dump', '-o', 'table'], /Allowed choices are yaml, json/],
  [['agents', 'create'], /needs a name\. Nothing was created; see agw agents create --help/],
  [['integrations', 'create', 'x'], /needs a base URL\./],
  [['integrations', 'create', 'x', 'https://a.test', '--auth', 'header'], /--auth-member name=/],
  [['integrations', 'create', 'x', 'https://a.test', '--auth-member', 'a=b'], /needs --auth/],
  [['connections', 'create'], /needs a name, --integration, --auth\./],
  [['connections', 'create', 'x', '--auth', 'none'], /create needs --integration\./],
  [
    ['connections', 'create', 'x', '--integration=a', '--auth=none', '--agent=a', '--user=b'],
    /give one of --agent and --user/,
  ],
  [
    ['scopes', 'create', 'x'],
    /needs --agent or --agent-selector, --integration or --integration-selector, --allow\./,
  ],
  [['webhooks', 'create', 'x'], /needs a URL, --events\./],
  [['tokens', 'create', 'a@b.test'], /needs --role\./],
  [['agents', 'create', 'x', '--label', 'in ('], /are no labels/],
  [['agents', 'create', '--json', '/dev/null'], /has no JSON object/],
  [['lock', 'agents', 'in ('], /selects nothing/],
  [['quickstart', 'nonsense'], /nonsense /],
  [['restore-gap', 'accept'], /Name the agents/],
  [['add', 'github', '--agent', 'x', '--actions', 'all'], /--actions all: there are read/],
  [['envoy-config', '--mode', 'virtual-host'], /needs --hostname/],
  [['activity', '--no-headers', '-o', 'json'], /goes with --output table/],
  [['requests', 'approve', 'arq_1', '--for', '1h', '--until', '2030-01-01'], /not both/],
  [['reactivate', 'agt_1'], /required option '--reason <text>'/],
]
// Each starts a process of its own.
describe('wrong usage says what is wrong and exits with 2', { concurrency: 4 }, () => {
  for (const [args, says] of wrong)
    test(`agw ${args.join(' ')}`, async () => {
      const { status, stderr } = await agw(...args)
      assert.equal(status, 2, stderr)
      assert.match(stderr, says)
    })
})
