import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { test } from 'node:test'
import { fromRoot } from '../../core/root.ts'

// Modules of the console without a page. They are compiled by a project of their own, so they are imported as built.
const built = async (name: string): Promise<any> =>
  await import(fromRoot('dist', 'admin', 'dashboard', `${name}.js`))
const { nearestRule } = await built('nearest-rule')
const { ruleOptions } = await built('rule-options')
const { curlOf } = await built('curl-of')
const { unusualRefusals } = await built('unusual-refusals')

const scope = (scope_id: string, ...rules: [string, string][]) => ({
  scope_id,
  rules: rules.map(([method, path]) => ({ methods: [method], paths: [path] })),
})

test('the nearest rule is the one that shares most of the path, then the method', () => {
  const scopes = [
    scope('a', ['GET', '/models/**'], ['POST', '/chat/completions']),
    scope('b', ['GET', '/refunds/*'], ['*', '/refunds/*/lines']),
  ]
  const rows: readonly [string, string, string | null][] = [
    ['GET', '/models/x', 'a 0 nothing'],
    ['DELETE', '/models/x/y', 'a 0 method'],
    ['DELETE', '/models', 'a 0 method'],
    ['POST', '/chat/other', 'a 1 path'],
    ['GET', '/refunds/1', 'b 0 nothing'],
    ['POST', '/refunds/1', 'b 0 method'],
    ['PATCH', '/refunds/1/lines', 'b 1 nothing'],
    ['PATCH', '/refunds/1/other', 'b 1 path'],
    ['GET', '/unlike', 'a 0 path'],
  ]
  for (const [method, path, expected] of rows) {
    const found = nearestRule(scopes, method, path)
    const text = `${found.scope.scope_id} ${found.rule} ${found.missing}`
    assert.equal(text, expected, `${method} ${path}`)
  }
  assert.equal(nearestRule([scope('empty')], 'GET', '/'), null)
})

test('a long pattern of wildcards is compared in time that the product of the lengths bounds', () => {
  const pattern = `/${Array.from({ length: 200 }, () => '**/a').join('/')}`
  const path = `/${Array.from({ length: 400 }, () => 'a').join('/')}/b`
  assert.equal(nearestRule([scope('a', ['GET', pattern])], 'GET', path).missing, 'path')
})

test('the rules that are offered go from the path itself to everything next to it', () => {
  const paths = (path: string): string[] =>
    ruleOptions('GET', path).map(({ rule }: any) => rule.paths[0])
  assert.deepEqual(paths('/refunds/re_1'), ['/refunds/re_1', '/refunds/*', '/refunds/**'])
  assert.deepEqual(paths('/x'), ['/x', '/*', '/**'])
  assert.deepEqual(paths('/a/*'), ['/a/%2A', '/a/*', '/a/**'], 'a literal star is no wildcard')
})

test('the curl command is one argument per value, whatever the caller wrote', () => {
  const rows = [
    "/v1/it's",
    '/v1/$(id)',
    '/v1/`id`',
    '/v1/"x"',
    '/v1/a b',
    '/v1/\\',
    '/v1/;id',
    '/v1/%27',
  ]
  for (const endpoint of rows) {
    const command = curlOf('GET', 'https://api.example.com', endpoint)
    const { stdout } = spawnSync(
      'sh',
      ['-c', `curl() { printf '%s\\n' "$@"; }; AGW_PROXY_URL=http://p AGW_KEY=k; ${command}`],
      { encoding: 'utf8' },
    )
    assert.deepEqual(stdout.trimEnd().split('\n'), [
      '-i',
      '-X',
      'GET',
      `http://p/https://api.example.com${endpoint}`,
      '-H',
      'Authorization: Bearer k',
    ])
  }
})

test('refusals are out of the ordinary when an hour has far more of them than the hours before', () => {
  const week = (usual: number, ...last: number[]) => [
    ...Array.from({ length: 168 - last.length }, (_, hour) => usual + (hour % 3)),
    ...last,
  ]
  const rows: readonly [string, readonly number[], number, readonly number[]][] = [
    ['a burst in this hour', week(2, 500), 168, [500]],
    ['a burst in the hour before, while this one has only begun', week(2, 500, 0), 168, [500]],
    ['five times the usual number is not enough', week(99, 500), 168, []],
    ['more than five times', week(9, 100), 168, [100]],
    ['few refusals, however unusual', week(0, 19), 168, []],
    ['twenty where there were none', week(0, 20), 168, [20]],
    ['as it has been for many hours', week(1, ...Array.from({ length: 20 }, () => 400)), 168, []],
    ['a deployment of less than a day', week(0, 500), 23, []],
    ['a deployment of a day', week(0, 500), 24, [500]],
    ['nothing now', week(5, 0, 0), 168, []],
    ['no hours at all', [], 168, []],
  ]
  for (const [name, counts, active, expected] of rows) {
    const found = unusualRefusals([{ reason: 'permission_denied', counts }], active)
    assert.deepEqual(
      found.map(({ count }: { count: number }) => count),
      expected,
      name,
    )
  }
})
