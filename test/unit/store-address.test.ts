import assert from 'node:assert/strict'
import { test } from 'node:test'
import { CLUSTER_SLOT } from '../../core/redis/cluster-map.ts'
import { parseStoreAddress } from '../../core/redis/store-address.ts'
import { readSettings } from '../../core/settings/settings.ts'
import { fromRoot } from '../../core/system/root.ts'

const nobody = { username: null, password: null, is_tls: false }
const rows: readonly (readonly [url: string, address: object])[] = [
  ['unix:///run/valkey.sock', { kind: 'socket', path: '/run/valkey.sock' }],
  [
    'redis://store',
    { kind: 'single', place: { host: 'store', port: 6379 }, db: 0, family: 0, ...nobody },
  ],
  [
    'rediss://user:p%40ss@store:6380/2?family=6',
    {
      kind: 'single',
      place: { host: 'store', port: 6380 },
      db: 2,
      family: 6,
      username: 'user',
      password: 'p@ss',
      is_tls: true,
    },
  ],
  [
    'redis://:pass@[::1]:7000',
    {
      kind: 'single',
      place: { host: '::1', port: 7000 },
      db: 0,
      family: 0,
      ...nobody,
      password: 'pass',
    },
  ],
  [
    'redis+sentinel://one:1,two/main',
    {
      kind: 'sentinel',
      places: [
        { host: 'one', port: 1 },
        { host: 'two', port: 26_379 },
      ],
      primary_name: 'main',
      ...nobody,
    },
  ],
  [
    'rediss+sentinel://u:p@[fd00::1]:26380/main',
    {
      kind: 'sentinel',
      places: [{ host: 'fd00::1', port: 26_380 }],
      primary_name: 'main',
      username: 'u',
      password: 'p',
      is_tls: true,
    },
  ],
  [
    'rediss+cluster://:p%2Fq@one:1,[::1]:2',
    {
      kind: 'cluster',
      places: [
        { host: 'one', port: 1 },
        { host: '::1', port: 2 },
      ],
      username: null,
      password: 'p/q',
      is_tls: true,
    },
  ],
]
for (const [url, address] of rows)
  test(`${url} is read`, () => assert.deepEqual(parseStoreAddress(url), address))

test('the slot is the one that Valkey computes for the hash tag', () => {
  // CLUSTER KEYSLOT {agw}
  assert.equal(CLUSTER_SLOT, 12_438)
})

const file = fromRoot('package.json')
const pair = { REDIS_TLS_CERT_FILE: file, REDIS_TLS_KEY_FILE: file }
const conflicts: readonly (readonly [name: string, env: object, problem: RegExp | null])[] = [
  [
    'a CA without TLS',
    { REDIS_URL: 'redis://a', REDIS_TLS_CA_FILE: file },
    /must begin with rediss/,
  ],
  ['a CA without an address', { REDIS_TLS_CA_FILE: file }, /must begin with rediss/],
  [
    'a pair without TLS',
    { REDIS_URL: 'redis+cluster://a:1', ...pair },
    /REDIS_TLS_CERT_FILE would not/,
  ],
  ['half a pair', { REDIS_URL: 'rediss://a', REDIS_TLS_CERT_FILE: file }, /must be set together/],
  ['a missing file', { REDIS_URL: 'rediss://a', REDIS_TLS_CA_FILE: '/none' }, /cannot be read/],
  [
    'a Sentinel password without Sentinels',
    { REDIS_URL: 'rediss://a', REDIS_SENTINEL_PASSWORD: 'x' },
    /must begin with redis\+sentinel/,
  ],
  [
    'Sentinel TLS for a cluster',
    { REDIS_URL: 'rediss+cluster://a:1', REDIS_SENTINEL_TLS: 'on' },
    /must begin with redis\+sentinel/,
  ],
  [
    'TLS with everything',
    {
      REDIS_URL: 'rediss://a',
      REDIS_TLS_CA_FILE: file,
      ...pair,
      REDIS_TLS_SERVER_NAME: 'store.example',
    },
    null,
  ],
  [
    'a CA for Sentinels alone',
    { REDIS_URL: 'redis+sentinel://a:1/m', REDIS_SENTINEL_TLS: 'on', REDIS_TLS_CA_FILE: file },
    null,
  ],
  [
    'Sentinels without TLS',
    {
      REDIS_URL: 'rediss+sentinel://a:1/m',
      REDIS_SENTINEL_TLS: 'off',
      REDIS_SENTINEL_USERNAME: 'agw',
      REDIS_SENTINEL_PASSWORD: 'x y',
    },
    null,
  ],
]
for (const [name, env, problem] of conflicts)
  test(`settings of the store: ${name}`, () => {
    const read = readSettings(env as Record<string, string>)
    const problems = read.ok ? [] : read.problems
    if (problem === null) assert.deepEqual(problems, [])
    else assert.match(problems.join(' '), problem)
  })
