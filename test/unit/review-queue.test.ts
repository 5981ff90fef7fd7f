import assert from 'node:assert/strict'
import { EventEmitter, once } from 'node:events'
import { setImmediate as turn } from 'node:timers/promises'
import { type TestContext, test } from 'node:test'
import { type CallInFlight, CallsInFlight, type Cut } from '../../ext-proc/kill/calls-in-flight.ts'
import { ReviewQueue } from '../../ext-proc/kill/review-queue.ts'
import type { Denial } from '../../ext-proc/verdict/denial.ts'

const DENIAL: Denial = { reason: 'permission_denied', details: {} }

const SUBJECT = {
  agent: { agent_id: 'a' },
  key_id: null,
  integration_id: null,
  scope_id: null,
  is_reading: false,
}

/** A queue whose calls are named; each review says what the test has set. */
function aQueue(t: TestContext) {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const inFlight = new CallsInFlight()
  const warnings: string[] = []
  const clock = { now_ms: 0 }
  const queue = new ReviewQueue({
    inFlight,
    nowMs: () => clock.now_ms,
    log: { warn: (_data, message) => void warnings.push(message) },
  })
  const log: string[] = []
  const verdicts = new Map<string, Denial | null | Error>()
  const add = (name: string, change: Partial<CallInFlight> = {}): CallInFlight => {
    const call: CallInFlight = {
      organization_id: 'o',
      agent_id: 'a',
      passed_ms: 0,
      ended: new Promise(() => undefined),
      cut: (why: Cut) => {
        log.push(`cut ${name} ${why.reason}`)
        return true
      },
      standing: {
        key_hash: `key of ${name}`,
        subject: SUBJECT,
        review: async () => {
          log.push(name)
          const verdict = verdicts.get(name) ?? null
          if (verdict instanceof Error) throw verdict
          return verdict
        },
      },
      ...change,
    }
    inFlight.add(call)
    return call
  }
  const pass = async (ms: number): Promise<void> => {
    for (let passed_ms = 0; passed_ms < ms; passed_ms += 10) {
      clock.now_ms += 10
      t.mock.timers.tick(10)
      for (let i = 0; i < 5; i++) await turn()
    }
  }
  /** What happened since the last call of this. */
  const happened = (): string[] => log.splice(0)
  return { queue, inFlight, clock, verdicts, add, pass, happened, warnings }
}

test('a change reviews the calls that depend on it, and no others', async (t) => {
  const { queue, add, pass, happened } = aQueue(t)
  add('one')
  add('two', { agent_id: 'b' })
  add('elsewhere', { organization_id: 'p' })
  add('undecided', { standing: null })
  for (const [target, expected] of [
    [{ what: 'key', hash: 'key of two' }, ['two']],
    [{ what: 'agent', organization_id: 'o', agent_id: 'a' }, ['one']],
    [{ what: 'integrations', organization_id: 'p' }, ['elsewhere']],
    [{ what: 'organization', organization_id: 'o' }, []],
    [{ what: 'forward_ca' }, []],
  ] as const) {
    const before = queue.generation
    queue.note(target)
    await pass(200)
    assert.deepEqual(happened(), expected, target.what)
    assert.equal(queue.generation > before, expected.length > 0)
  }
  queue.noteAll()
  await pass(200)
  assert.deepEqual(happened().sort(), ['elsewhere', 'one', 'two'])
})

test('changes that come together are reviewed together, and what is refused is cut', async (t) => {
  const { queue, verdicts, add, pass, happened } = aQueue(t)
  const [one] = [add('one'), add('two')]
  verdicts.set('two', DENIAL)
  queue.note({ what: 'key', hash: 'key of one' })
  queue.note({ what: 'agent', organization_id: 'o', agent_id: 'a' })
  queue.add(one)
  await pass(200)
  assert.deepEqual(happened(), ['one', 'two', 'cut two not_admitted'])
})

test('calls inside a tunnel are cut before it, even those that were reviewed before the change', async (t) => {
  const { queue, verdicts, add, pass, happened } = aQueue(t)
  const refuseAll = async (): Promise<Denial> => {
    for (const name of ['tunnel', 'inside']) verdicts.set(name, DENIAL)
    return DENIAL
  }
  add('inside')
  add('tunnel', {
    is_tunnel: true,
    standing: { key_hash: '', subject: SUBJECT, review: refuseAll },
  })
  add('of another agent', { agent_id: 'b' })
  queue.note({ what: 'agent', organization_id: 'o', agent_id: 'a' })
  await pass(150)
  assert.deepEqual(happened(), ['inside', 'inside', 'cut inside not_admitted'])
  await pass(300)
  assert.deepEqual(happened(), ['cut tunnel not_admitted'])
})

test('what could not be decided is decided later, unless it has ended', async (t) => {
  const { queue, inFlight, verdicts, add, pass, happened, warnings } = aQueue(t)
  const calls = ['stays', 'ends'].map((name) => {
    verdicts.set(name, new Error('the store is away'))
    return add(name)
  })
  queue.noteAll()
  await pass(150)
  assert.deepEqual(happened(), ['stays', 'ends'])
  assert.equal(warnings.length, 1)
  for (const call of calls.slice(1)) inFlight.remove(call)
  await pass(500)
  assert.ok(happened().includes('stays'))
  verdicts.set('stays', DENIAL)
  await pass(500)
  assert.deepEqual(happened(), ['stays', 'cut stays not_admitted'])
  await pass(1_000)
  assert.deepEqual(happened(), [])
})

test('a review is done in slices, and waits while a kill cuts its calls', async (t) => {
  const { queue, inFlight, add, happened } = aQueue(t)
  for (let i = 0; i < 100; i++) add(`call ${i}`)
  const ended = Promise.resolve()
  for (let i = 0; i < 1_000; i++)
    inFlight.add({
      organization_id: 'o',
      agent_id: 'killed',
      passed_ms: null,
      ended,
      cut: () => true,
    })
  queue.note({ what: 'agent', organization_id: 'o', agent_id: 'a' })
  t.mock.timers.tick(100)
  await turn()
  await turn()
  const first = happened().length
  assert.ok(first > 0 && first < 100, `${first} in the first turns`)
  void inFlight.cutAgent('o', 'killed', { reason: 'agent_killed', killed_at: '' })
  await turn()
  assert.ok(inFlight.isCutting)
  happened()
  await turn()
  assert.ok(inFlight.isCutting)
  assert.deepEqual(happened(), [])
  for (let i = 0; i < 60; i++) await turn()
  assert.equal(inFlight.isCutting, false)
  assert.ok(happened().length > 0)
})

test('calls that a review ends are cut no faster than Envoy ends them', async (t) => {
  const { queue, verdicts, add, pass, happened } = aQueue(t)
  verdicts.set('refused', DENIAL)
  const ends: (() => void)[] = []
  for (let i = 0; i < 500; i++)
    add('refused', { ended: new Promise((resolve) => ends.push(resolve)) })
  queue.noteAll()
  let cut = 0
  for (let ended = 0; ended < 500; ended = cut) {
    await pass(150)
    const now = happened().filter((what) => what.startsWith('cut')).length
    assert.ok(now > 0 && now <= 200, `${now} at once`)
    for (const end of ends.slice(cut, cut + now)) end()
    cut += now
  }
  assert.equal(cut, 500)
})

test('calls whose scope ends are decided again then, and may have a new end', async (t) => {
  const { queue, inFlight, clock, verdicts, add, pass, happened } = aQueue(t)
  /** A review that admits the call sets the next end. */
  const ending = (name: string, ...ends: number[]) => {
    const call = add(name)
    const standing = {
      key_hash: '',
      subject: SUBJECT,
      ends_ms: ends.shift() ?? null,
      review: async () => {
        const denial = (await call.standing?.review()) ?? null
        if (denial === null) standing.ends_ms = ends.shift() ?? null
        return denial
      },
    }
    const own: CallInFlight = { ...call, standing }
    inFlight.remove(call)
    inFlight.add(own)
    queue.watchEnd(own)
    return own
  }
  ending('late', 5_000)
  ending('first', 2_500)
  const gone = ending('gone', 3_000)
  queue.watchEnd(add('open'))
  ending('renewed', 2_500, 4_000)
  for (const name of ['first', 'late', 'gone']) verdicts.set(name, DENIAL)
  await pass(2_490)
  assert.deepEqual(happened(), [])
  inFlight.remove(gone)
  await pass(200)
  assert.deepEqual(happened(), ['first', 'renewed', 'cut first not_admitted'])
  await pass(1_500)
  assert.deepEqual(happened(), ['renewed'])
  // The clock is corrected: what was a second ago is to come.
  clock.now_ms -= 1_000
  await pass(1_900)
  assert.deepEqual(happened(), [])
  await pass(500)
  assert.deepEqual(happened(), ['late', 'cut late not_admitted'])
})

test('a change reaches the last of many calls in less than a second, while other changes keep coming', async (t) => {
  const { queue, clock, verdicts, add, pass, happened } = aQueue(t)
  for (let i = 0; i < 640; i++) add('another')
  verdicts.set('last', DENIAL)
  add('last')
  // The review that runs has begun before the change.
  queue.noteAll()
  await pass(100)
  const changed_ms = clock.now_ms
  queue.note({ what: 'agent', organization_id: 'o', agent_id: 'a' })
  happened()
  while (!happened().includes('cut last not_admitted')) {
    assert.ok(clock.now_ms - changed_ms < 1_000)
    queue.note({ what: 'integrations', organization_id: 'p' })
    await pass(10)
  }
})

test('a call that is refused while a cut looks for its calls is left to the cut, which counts it', async (t) => {
  const { queue, inFlight, add, pass, happened } = aQueue(t)
  const [decided, found] = [new EventEmitter(), new EventEmitter()]
  const call = add('locked', {
    ended: Promise.resolve(),
    standing: {
      key_hash: '',
      subject: SUBJECT,
      review: async () => ((await once(decided, 'refused')).length > 0 ? DENIAL : null),
    },
  })
  queue.noteAll()
  await pass(150)
  const why = { reason: 'agent_killed', killed_at: '' } as const
  const find = async (): Promise<CallInFlight[]> => await once(found, 'calls')
  const cut = inFlight.cutFound(find, why, () => 0)
  decided.emit('refused', true)
  await pass(50)
  assert.deepEqual(happened(), [])
  found.emit('calls', call)
  assert.equal((await cut).terminated, 1)
  assert.deepEqual(happened(), ['cut locked agent_killed'])
})
