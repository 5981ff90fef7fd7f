import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { ArchiveChain } from '../../admin/audit/archive-chain.ts'
import { archiveKeys, archiveRoots } from '../../core/activity/archive-line.ts'
import { entryOfNoCall } from '../../core/activity/entry-of-no-call.ts'
import { archivedChanges } from '../../core/restore/archived-changes.ts'
import { killStateOf } from '../../core/restore/logged-change.ts'
import { tempFolder } from '../kit/temp-folder.ts'

const ORG = 'org_default'
const HOUR_MS = 3_600_000
const BEGIN_MS = Date.parse('2026-06-01T10:30:00Z')
const ROOTS = archiveRoots({ primary_id: 'k1', keys: new Map([['k1', randomBytes(32)]]) })
const OTHER = archiveRoots({ primary_id: 'k1', keys: new Map([['k1', randomBytes(32)]]) })
const placeOf = (n: number): string => `${BEGIN_MS + n * HOUR_MS}-0`

const textOf = (action: string, more: object = {}): string =>
  JSON.stringify(
    entryOfNoCall({
      event: 'admin_action',
      organization_id: ORG,
      agent_id: 'agt_1',
      agent_name: null,
      timestamp: '2026-06-01T10:30:00.000Z',
      actor: { source_ip: null, request_id: null, edge_id: null },
      data: { actor: 'a', action, target: 'agt_1', ...more },
    }),
  )

/** An archive with an hour file for each entry. */
async function archive(...texts: readonly string[]): Promise<string> {
  const folder = tempFolder('archived-changes')
  const chain = new ArchiveChain(join(folder, ORG), archiveKeys(ROOTS, ORG))
  await chain.append(texts.map((entry_text, i) => ({ n: i + 1, place: placeOf(i), entry_text })))
  return folder
}

const KILL = textOf('agent.kill', { after: { status: 'killed', revision: 7 } })
const REACTIVATION = textOf('agent.reactivate', { after: { status: 'active', revision: 8 } })
const CALL = '{"event":"request_allowed","endpoint":"/\\"event\\":\\"admin_action\\""}'

async function read(folder: string, after = placeOf(0), roots = ROOTS) {
  const { changes, problem, last_place } = await archivedChanges(folder, roots, ORG, after)
  const states = changes.map((change) => killStateOf(change)?.revision ?? null)
  return { actions: changes.map(({ action }) => action), states, problem, last_place }
}

test('the changes after a position are proven by the chain', async () => {
  const folder = await archive(CALL, KILL, CALL, REACTIVATION, textOf('scope.update'))
  assert.deepEqual(await read(folder), {
    actions: ['agent.kill', 'agent.reactivate', 'scope.update'],
    states: [7, 8, null],
    problem: null,
    last_place: placeOf(4),
  })
  assert.deepEqual((await read(folder, placeOf(3))).actions, ['scope.update'])
  assert.deepEqual((await read(folder, placeOf(9))).actions, [])
  assert.deepEqual((await read(folder, '0-0')).states, [7, 8, null])
})

const fileOf = (folder: string, n: number): string =>
  join(
    folder,
    ORG,
    readdirSync(join(folder, ORG))
      .filter((name) => name.endsWith('.ndjson'))
      .sort()[n] ?? '',
  )

for (const [what, alter, why] of [
  [
    'changed line',
    (folder: string) => {
      const file = fileOf(folder, 3)
      writeFileSync(file, readFileSync(file, 'utf8').replace('"revision":8', '"revision":9'))
    },
    /was changed/,
  ],
  ['removed hour', (folder: string) => rmSync(fileOf(folder, 2)), /missing/],
  ['removed end', (folder: string) => rmSync(fileOf(folder, 4)), /cut off/],
  ['removed head', (folder: string) => rmSync(join(folder, ORG, 'head.json')), /head/],
] as const)
  test(`an archive with a ${what} kills, and reactivates nothing`, async () => {
    const folder = await archive(CALL, KILL, CALL, REACTIVATION, CALL)
    alter(folder)
    const { states, problem } = await read(folder)
    assert.match(problem ?? '', why)
    // A revision that is not proven may be one that no reactivation can exceed.
    assert.deepEqual(states, [BEGIN_MS + HOUR_MS, null])
  })

test('an archive with another key, without the beginning, with lost entries, or none says so', async () => {
  const folder = await archive(CALL, KILL, CALL, REACTIVATION)
  assert.match((await read(folder, placeOf(0), OTHER)).problem ?? '', /was changed/)
  const late = await archive(CALL, CALL, KILL)
  rmSync(fileOf(late, 0))
  assert.match((await read(late)).problem ?? '', /begins after the backup/)
  const lost = await archive(CALL, '{"gap":{"missing":3}}', KILL)
  assert.match((await read(lost)).problem ?? '', /dropped before they were archived/)
  assert.equal((await read(tempFolder('none'))).problem, 'there is no archive')
})
