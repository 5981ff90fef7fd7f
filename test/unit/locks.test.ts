import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Labels, Lock, LockMode, LockTarget } from '../../core/catalogue/model.ts'
import type { BodyFacts } from '../../core/inspection/read-body.ts'
import { onlyReads } from '../../core/mcp/only-reads.ts'
import { readJsonRpc } from '../../core/mcp/read-json-rpc.ts'
import { compileToolGlob } from '../../core/mcp/tool-glob.ts'
import { compileLocks, findLock, type LockSubject } from '../../core/decision/locks.ts'
import { matchesSelector } from '../../core/decision/selector.ts'
import { RestrictionBoard } from '../../ext-proc/kill/restriction-board.ts'
import { NO_OVERRIDES } from '../../core/request/overrides.ts'
import { isReading } from '../../ext-proc/call/is-reading-call.ts'
import { targetOf } from './policy-kit.ts'
import { SeededRandom } from '../kit/seeded-random.ts'

const ORG = 'org_a'
let count = 0
const aLock = (target: LockTarget, more: Partial<Lock> = {}): Lock => ({
  lock_id: `lck_${++count}`,
  organization_id: 'everything' in target ? '*' : ORG,
  target,
  mode: 'deny',
  message: null,
  reference: null,
  created_at: '2026-01-01T00:00:00.000Z',
  created_by: 'ops@example.com',
  created_in: ORG,
  expires_at: null,
  ...more,
})
const at = (ms: number): string => new Date(ms).toISOString()

/** Whether a lock names a call, said once more. */
function names({ target }: Lock, subject: LockSubject): boolean {
  const { agent, key_id, integration_id, scope_id, grant_id } = subject
  if ('agent_selector' in target) return matchesSelector(target.agent_selector, agent.labels)
  const [[member, id] = []] = Object.entries(target)
  const own = { agent_id: agent.agent_id, key_id, integration_id, scope_id }
  if (member === 'scope_id' && grant_id === id) return true
  return member === 'everything' || member === 'organization_id' || own[member as 'key_id'] === id
}

test('of 2,000 random sets of locks the one that decides is that of a plain search', () => {
  const choice = new SeededRandom(7)
  const pick = <T>(from: readonly T[]): T => from[choice.below(from.length)] as T
  const ids = ['x', 'y', 'z']
  const labelsOf = (): Labels => ({ team: pick(ids) })
  for (let round = 0; round < 2_000; round++) {
    const targets: LockTarget[] = [
      { agent_id: pick(ids) },
      { agent_selector: { match_labels: labelsOf(), match_expressions: [] } },
      { key_id: pick(ids) },
      { scope_id: pick(ids) },
      { integration_id: pick(ids) },
      { organization_id: ORG },
      { everything: true },
    ]
    const locks = Array.from({ length: choice.below(4) }, () =>
      aLock(pick(targets), {
        mode: pick<LockMode>(['deny', 'read_only']),
        expires_at: pick([null, at(500), at(1_500), at(2_500)]),
      }),
    )
    const subject: LockSubject = {
      agent: { agent_id: pick(ids), labels: labelsOf() },
      key_id: pick([...ids, null]),
      integration_id: pick([...ids, null]),
      scope_id: pick([...ids, null]),
      grant_id: pick([...ids, null]),
    }
    const mode = pick(['deny', 'read_only', 'any'] as const)
    const endOf = ({ expires_at }: Lock): number =>
      expires_at === null ? Number.POSITIVE_INFINITY : Date.parse(expires_at)
    const fitting = locks
      .filter((lock) => names(lock, subject) && endOf(lock) > 1_000)
      .filter((lock) => mode === 'any' || lock.mode === mode)
    const strictest = fitting.some((lock) => lock.mode === 'deny') ? 'deny' : 'read_only'
    const last = Math.max(
      ...fitting.filter((lock) => lock.mode === strictest).map((lock) => endOf(lock)),
    )
    const found = findLock(compileLocks(locks), subject, 1_000, mode)
    assert.equal(found === null, fitting.length === 0)
    if (found !== null) {
      assert.ok(fitting.includes(found))
      assert.deepEqual([found.mode, endOf(found)], [strictest, last])
    }
  }
})

test('what a newer version stores forbids more, never less', () => {
  const subject = { agent: { agent_id: 'x' }, key_id: null, integration_id: null, scope_id: null }
  const later = aLock({ region: 'eu' } as never, { mode: 'slow' as never, expires_at: 'never' })
  for (const mode of ['deny', 'any'] as const)
    assert.equal(findLock(compileLocks([later]), subject, 0, mode), later)
})

function aBoard() {
  const lost: string[] = []
  const board = new RestrictionBoard({
    kill: () => undefined,
    lock: ({ lock_id }) => lost.push(lock_id),
  })
  const isLocked = (organization = ORG): boolean => board.locksOf(organization) !== null
  return { board, lost, isLocked }
}

test('a lock is in force from its message on; a read that began before says nothing, a later one lifts a forged one', () => {
  const { board, isLocked, lost } = aBoard()
  const lock = aLock({ organization_id: ORG })
  const since = board.lockMoment()
  assert.equal(board.receiveLock(lock), 'news')
  assert.equal(board.receiveLock(lock), 'known')
  board.learnNoLock(ORG, lock.lock_id, since)
  assert.ok(isLocked())
  assert.ok(!isLocked('org_b'))
  assert.deepEqual(board.locksToConfirm(), [[ORG, lock.lock_id]])
  board.learnNoLock(ORG, lock.lock_id, board.lockMoment())
  assert.ok(!isLocked())
  assert.deepEqual(lost, [])
})

test('only a lifted lock is lifted: one that the store has lost is in force and is to be restored', () => {
  const { board, isLocked, lost } = aBoard()
  const lock = aLock({ everything: true })
  board.receiveLock(lock)
  board.learnLock('*', lock.lock_id, lock, board.lockMoment())
  assert.deepEqual(board.locksToConfirm(), [])
  board.learnNoLock('*', lock.lock_id, board.lockMoment())
  assert.ok(isLocked())
  assert.deepEqual(lost, [lock.lock_id])
  const before = board.lockMoment()
  board.learnLock('*', lock.lock_id, 'lifted', board.lockMoment())
  assert.ok(!isLocked())
  assert.equal(board.receiveLock(lock), 'outdated')
  // A read that began before it was lifted.
  board.learnLock('*', lock.lock_id, lock, before)
  assert.ok(!isLocked())
  // A store that has lost the end.
  board.learnLock('*', lock.lock_id, lock, board.lockMoment())
  assert.ok(isLocked())
})

test('of an organization only its own locks count, and those of everything', () => {
  const { board } = aBoard()
  for (const lock of [
    aLock({ agent_id: 'x' }),
    aLock({ agent_id: 'x' }, { organization_id: 'org_b' }),
    aLock({ everything: true }, { mode: 'read_only' }),
  ])
    board.receiveLock(lock)
  const subject = { agent: { agent_id: 'x' }, key_id: null, integration_id: null, scope_id: null }
  const found = (organization: string) =>
    findLock(board.locksOf(organization), subject, 0, 'any')?.organization_id
  assert.deepEqual([ORG, 'org_b', 'org_c'].map(found), [ORG, 'org_b', '*'])
})

test('an MCP message only reads if every reader of it says so', () => {
  const tools = [['read_*', 'list'].map(compileToolGlob), ['*'].map(compileToolGlob)]
  const reads = (text: string): boolean => onlyReads(readJsonRpc(Buffer.from(text)), tools)
  const call = (name: string): string =>
    `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":${name}}}`
  for (const text of ['"read_x"', '"list"']) assert.ok(reads(call(text)))
  assert.ok(reads('{"jsonrpc":"2.0","method":"notifications/initialized"}'))
  for (const text of [
    call('"write"'),
    call('"LIST"'),
    call('"list\\u0000"'),
    call('null'),
    `[${call('"list"')}]`,
    '{"jsonrpc":"2.0","id":1,"method":"TOOLS/LIST"}',
    '{"jsonrpc":"2.0","id":1,"method":"ping","Method":"x"}',
    '{"jsonrpc":"2.0","id":1,"result":{}}',
    '{"method":"ping"}',
    '',
  ])
    assert.ok(!reads(text), text)
  assert.ok(!onlyReads(readJsonRpc(Buffer.from(call('"list"'))), [[]]))
  assert.ok(!onlyReads(readJsonRpc(Buffer.from(call('"list"'))), []))
})

test('a body that a server may read in another charset does not only read', () => {
  const body =
    '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"list","+AG4-ame":"drop"}}'
  const facts = { overrides: NO_OVERRIDES, json_rpc: readJsonRpc(Buffer.from(body)) } as BodyFacts
  const reads = (content_type: string): boolean =>
    isReading(
      {
        method: 'POST',
        is_socket: false,
        overrides: NO_OVERRIDES,
        target: targetOf('https://x/mcp'),
        settings: { read_tools: [[compileToolGlob('list')]] },
        head: { content_type },
      },
      facts,
      { has_body: true },
    )
  for (const type of ['application/json', 'application/json; charset=utf-8', ''])
    assert.ok(reads(type), type)
  for (const type of ['application/json; charset=utf-7', 'text/plain;charset*="utf-16"'])
    assert.ok(!reads(type), type)
})
