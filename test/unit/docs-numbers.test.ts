import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { fromRoot } from '../../core/system/root.ts'

/** The value of a constant that is written as a number, a product or a shift of numbers. */
function constantOf(file: string, name: string): number {
  const source = readFileSync(fromRoot(file), 'utf8')
  const [, text = ''] =
    new RegExp(`^(?:export )?const ${name} = ([\\d_. *<]+)$`, 'm').exec(source) ?? []
  const [first = '', ...others] = text.replaceAll('_', '').split(/ (<<|\*) /)
  let value = Number(first)
  for (let i = 0; i < others.length; i += 2)
    value = others[i] === '<<' ? value * 2 ** Number(others[i + 1]) : value * Number(others[i + 1])
  assert.ok(first !== '' && Number.isFinite(value), `${file} has no constant ${name}`)
  return value
}

const KIB = 1024
const SECOND_MS = 1000
const HOUR_MS = 3_600_000

/** What a document says, with the place of a number, and the constant in its unit. */
const ROWS: readonly (readonly [
  page: string,
  says: string,
  file: string,
  constant: string,
  unit?: number,
])[] = [
  ['ARCHITECTURE.md', 'at most #', 'core/settings/settings.ts', 'WORKERS_DEFAULT_MAX'],
  [
    'ARCHITECTURE.md',
    'waits for the acknowledgements, at most # s',
    'core/kill/await-edges.ts',
    'EDGE_WAIT_MS',
    SECOND_MS,
  ],
  [
    'decisions/015-http2-server.md',
    '# KiB of a stream',
    'ext-proc/http2/connection.ts',
    'STREAM_WINDOW_BYTES',
    KIB,
  ],
  [
    'decisions/015-http2-server.md',
    '# KiB of a connection',
    'ext-proc/http2/connection.ts',
    'CONNECTION_WINDOW_BYTES',
    KIB,
  ],
  [
    'decisions/015-http2-server.md',
    'blocks of # KiB',
    'ext-proc/http2/connection.ts',
    'HEADER_BLOCK_LIMIT_BYTES',
    KIB,
  ],
  [
    'decisions/015-http2-server.md',
    '# streams of a connection',
    'ext-proc/http2/connection.ts',
    'STREAMS_MAX',
  ],
  [
    'decisions/015-http2-server.md',
    'nothing for # seconds',
    'ext-proc/http2/connection.ts',
    'STALL_LIMIT_MS',
    SECOND_MS,
  ],
  [
    'decisions/015-http2-server.md',
    'While # MiB wait',
    'ext-proc/http2/connection.ts',
    'OUTPUT_LIMIT_BYTES',
    KIB ** 2,
  ],
  [
    'decisions/017-log-blocks.md',
    'blocks of up to #',
    'core/activity/pack-block.ts',
    'BLOCK_ENTRIES_MAX',
  ],
  [
    'guides/activity.md',
    'up to # allowed calls',
    'core/activity/pack-block.ts',
    'BLOCK_ENTRIES_MAX',
  ],
  [
    'guides/activity.md',
    'up to # refusals per agent',
    'ext-proc/record/activity-recorder.ts',
    'FULL_REFUSALS_PER_MINUTE',
  ],
  [
    'guides/anomaly.md',
    'scopes of an organization | #',
    'core/anomaly/anomaly-model.ts',
    'SCOPES_MAX',
  ],
  ['guides/anomaly.md', 'has # hours', 'core/anomaly/anomaly-model.ts', 'LEARNING_MS', HOUR_MS],
  ['guides/console.md', 'at most # sessions', 'admin/access/sessions.ts', 'SESSIONS_LIMIT'],
  ['guides/kill.md', 'or after # s', 'core/kill/await-edges.ts', 'EDGE_WAIT_MS', SECOND_MS],
  ['guides/kill.md', 'newest # receipts', 'core/kill/kill-receipt.ts', 'RECEIPTS_MAX'],
  ['guides/kill.md', 'up to # edges each', 'core/kill/kill-receipt.ts', 'RECEIPT_ROWS_MAX'],
  ['guides/operations.md', 'at most # agents', 'admin/agents/agent-schemas.ts', 'AGENTS_LIMIT'],
  [
    'guides/rate-limits.md',
    'more than # s old',
    'ext-proc/rate/rate-taker.ts',
    'RATE_WINDOW_MS',
    SECOND_MS,
  ],
  ['guides/rate-limits.md', 'quota for at most # ms', 'ext-proc/rate/rate-shares.ts', 'SHARE_MS'],
  ['guides/scopes.md', 'more than # calls', 'core/request/batch.ts', 'BATCH_PARTS_MAX'],
  [
    'guides/scopes.md',
    'a path of a rule | # characters',
    'admin/scopes/scope-schemas.ts',
    'PATH_LENGTH_LIMIT',
  ],
  [
    'guides/scopes.md',
    'JSON of a scope; of all scopes of an agent | # KiB',
    'admin/scopes/scope-schemas.ts',
    'SCOPE_LIMIT_BYTES',
    KIB,
  ],
  ['guides/webhooks.md', 'has at most # webhooks', 'admin/webhooks/webhook.ts', 'WEBHOOKS_MAX'],
  [
    'guides/webhooks.md',
    'A process has at most #',
    'admin/webhooks/delivery-worker.ts',
    'ATTEMPTS_MAX',
  ],
  ['threat-model.md', 'at most # rounds', 'core/request/decode-path.ts', 'DECODE_ROUNDS_LIMIT'],
]

test('numbers that a document repeats from a constant are those of the constant', () => {
  for (const [page, says, file, constant, unit = 1] of ROWS) {
    const path = page === 'ARCHITECTURE.md' ? page : `docs/${page}`
    const text = readFileSync(fromRoot(path), 'utf8').replaceAll(/\s+/g, ' ')
    const value = (constantOf(file, constant) / unit).toLocaleString('en-US')
    const expected = says.replace('#', value)
    assert.ok(
      text.includes(expected),
      `${page} does not say “${expected}” (${constant} of ${file})`,
    )
  }
})
