import assert from 'node:assert/strict'
import { setImmediate as turn } from 'node:timers/promises'
import { describe, test } from 'node:test'
import type { ActivityEntry } from '../../core/activity/activity-entry.ts'
import type { CallIo } from '../../ext-proc/call/call-io.ts'
import { HeldBytes } from '../../ext-proc/call/held-bytes.ts'
import { CallStream } from '../../ext-proc/call/call-stream.ts'
import { NEXT_STATES } from '../../ext-proc/call/call-state.ts'
import type { ActivityRecorder } from '../../ext-proc/record/activity-recorder.ts'
import { beginRecord } from '../../ext-proc/record/begin-record.ts'
import { type Cut, CallsInFlight } from '../../ext-proc/kill/calls-in-flight.ts'
import { UnwatchedCalls } from '../../ext-proc/kill/unwatched-calls.ts'
import { StreamWatch } from '../../ext-proc/kill/stream-watch.ts'
import type { ResponseInspector } from '../../ext-proc/verdict/response-inspector.ts'
import type { Denial } from '../../ext-proc/verdict/denial.ts'
import { deny } from '../../ext-proc/verdict/step.ts'
import type { Verdict } from '../../ext-proc/verdict/verdict.ts'
import { FakeEnvoyStream } from '../kit/fake-envoy-stream.ts'

const KILLED_AT = '2026-01-01T00:00:00.000Z'
const KILL: Cut = { reason: 'agent_killed', killed_at: KILLED_AT }
const FINDING: Denial = { reason: 'security_block', details: { pattern_name: 'x' } }
const KILL_ANSWER = `refuse 503 agw_agent_killed ${KILLED_AT}`

interface Gate<T> {
  readonly promise: Promise<T>
  readonly open: (value: T) => void
  readonly fail: (error: Error) => void
}
function gate<T>(): Gate<T> {
  let open: Gate<T>['open'] = () => undefined
  let fail: Gate<T>['fail'] = () => undefined
  const promise = new Promise<T>((resolve, reject) => {
    open = resolve
    fail = reject
  })
  return { promise, open, fail }
}

interface Options {
  readonly has_access_log?: boolean
  readonly is_strict?: boolean
  /** Answers of the log wait until the test opens it. */
  readonly slow_log?: boolean
  /** The key is of no organization that is known. */
  readonly is_unknown?: boolean
  /** The decision reads the body first. */
  readonly asks_body?: boolean
  /** The stream comes from an Envoy with a configuration of its own. */
  readonly watch?: StreamWatch
  /** The process was paused, and does not know yet whether it may serve. */
  readonly afterPause?: Promise<void>
}

const STANDING = {
  key_hash: 'h',
  subject: {
    agent: { agent_id: 'a' },
    key_id: 'k',
    integration_id: 'i',
    scope_id: 's',
    is_reading: false,
  },
  review: () => Promise.resolve(null),
}

/** One call on a stream of its own: the test is Envoy, the decision and the log. */
class Call {
  readonly envoy: FakeEnvoyStream
  readonly inFlight = new CallsInFlight()
  readonly heldBytes = new HeldBytes({ per_agent: 100, per_organization: 150, timeout_ms: 30_000 })
  /** Each entry in a few words, from when it is handed over. */
  readonly entries: string[] = []
  readonly counted: string[] = []
  /** The spans of the call, each in a few words. */
  readonly traced: string[] = []
  readonly errors: string[] = []
  readonly decision = gate<Verdict>()
  readonly log = gate<void>()
  readonly chunk = gate<void>()
  /** How often the inspector of the response was closed. */
  closed = 0
  /** The body as the decision got it. */
  body: string | null = null
  io: CallIo | null = null
  /** Calls that are decided again, since something has changed meanwhile. */
  readonly reviews = {
    generation: 0,
    added: [] as unknown[],
    add: (call: unknown): void => void this.reviews.added.push(call),
    watchEnd: (): void => undefined,
  }
  readonly stream: CallStream

  constructor(options: Options = {}) {
    if (options.slow_log !== true) this.log.open()
    this.envoy = new FakeEnvoyStream(options.has_access_log)
    const note = (entry: ActivityEntry): void => {
      const { decision, reason, status } = entry
      this.entries.push([decision, reason, status].filter((part) => part !== null).join(' '))
    }
    const recorder: Pick<
      ActivityRecorder,
      'refused' | 'refusedUnknown' | 'allowed' | 'allowedNow'
    > = {
      refused: (entry) => {
        note(entry)
        return this.log.promise.catch(() => undefined)
      },
      refusedUnknown: (reason) => {
        this.entries.push(`unknown ${reason}`)
        return this.log.promise
      },
      allowed: note,
      allowedNow: (entry) => {
        note(entry)
        return this.log.promise
      },
    }
    this.stream = new CallStream(this.envoy.stream, {
      inFlight: this.inFlight,
      heldBytes: this.heldBytes,
      recorder: recorder as ActivityRecorder,
      metrics: { decided: (outcome, reason) => void this.counted.push(`${outcome} ${reason}`) },
      traces: {
        decided: (_stream, _record, { decision, reason, status }, passed_ms) => {
          const when = passed_ms === null ? 'decided' : 'passed'
          this.traced.push(
            [when, decision, reason, status].filter((part) => part !== null).join(' '),
          )
        },
      },
      begin: (headers) => beginRecord(headers, 'edge-1', () => 5),
      afterPause: () => options.afterPause ?? null,
      decide: async (_headers, io, record) => {
        this.io = io
        if (options.is_unknown !== true) {
          record.facts.organization_id = 'o'
          record.facts.agent_id = 'a'
          io.registerInFlight('o', 'a')
        }
        if (options.asks_body === true) this.body = (await io.body('scan')).toString()
        return await this.decision.promise
      },
      is_strict: options.is_strict ?? false,
      reviews: this.reviews,
      watchOf: () => options.watch ?? { begin: () => null },
      whyUnavailable: () => 'the store is full',
      isProbe: (pass) => Promise.resolve(pass === 'a probe'),
      log: { error: (_data, message) => void this.errors.push(message) },
    })
  }

  /** The response's body comes in chunks, each of which waits for `chunk`. */
  get inspector(): ResponseInspector {
    return {
      sees_every_response: true,
      may_read_body: true,
      headers: (headers) =>
        headers.some(({ name }) => name === 'x-bad')
          ? { kind: 'deny', denial: FINDING }
          : { kind: 'pass', headers, body: 'chunks' },
      cleaned: (headers) => headers,
      body: async (bytes) => {
        if (bytes.toString() === 'slow') await this.chunk.promise
        if (bytes.toString() === 'bad') return { kind: 'deny', denial: FINDING, before: null }
        if (bytes.toString() === 'throws') throw new Error('on purpose')
        return { kind: 'pass', body: null, remove: [] }
      },
      trailers: () => ({ kind: 'pass', remove: [] }),
      close: () => void this.closed++,
    }
  }

  pass(): void {
    const changes = { set: [{ name: 'x-agw-pass', value: 's' }], remove: [], body: null }
    this.decision.open({
      kind: 'forward',
      changes,
      inspector: this.inspector,
      rate: null,
      standing: STANDING,
    })
  }

  deny(): void {
    this.decision.open(deny('scope', 'permission_denied', { reason: 'no_scope' }))
  }

  cut(why: Cut = KILL): boolean {
    return this.stream.cut(why)
  }
}

/** Lets everything run that waits for nothing but its turn. */
const settle = async (): Promise<void> => {
  for (let i = 0; i < 4; i++) await turn()
}

interface State {
  readonly options?: Options
  readonly reach: (call: Call) => void | Promise<void>
  /** What happens next where nothing intervenes. */
  readonly goOn: (call: Call) => void
  /** What was sent and logged on the way here. */
  readonly sent: readonly string[]
  readonly entries?: readonly string[]
  /** What is sent and logged next where nothing intervenes, and at the end of the stream. */
  readonly next: readonly string[]
  readonly nextEntries?: readonly string[]
  readonly lastEntries?: readonly string[]
  /** What is logged when the caller leaves here. */
  readonly leavingEntries?: readonly string[]
  /** A refusal is in the log, or on its way there, that a cut does not replace. */
  readonly is_logged?: boolean
  /** Bytes may have reached the API. */
  readonly is_out?: boolean
  /** What is logged, though the caller has left, once the decision is made. */
  readonly entriesAfterLeaving?: readonly string[]
}

const PASS = 'pass in request_headers'

const passed = async (call: Call): Promise<void> => {
  call.envoy.requestHeaders(true)
  call.pass()
  await settle()
}

/** Every place at which a call can be, from its headers to the end of its response. */
const STATES: Readonly<Record<string, State>> = {
  'a pass is decided': {
    reach: ({ envoy }) => envoy.requestHeaders(true),
    goOn: (call) => call.pass(),
    sent: [],
    next: [PASS],
    lastEntries: ['allowed'],
  },
  'a refusal is decided': {
    reach: ({ envoy }) => envoy.requestHeaders(true),
    goOn: (call) => call.deny(),
    sent: [],
    next: ['refuse 403 agw_permission_denied'],
    nextEntries: ['blocked permission_denied 403'],
    entriesAfterLeaving: ['blocked permission_denied 403'],
  },
  'the decision fails': {
    reach: ({ envoy }) => envoy.requestHeaders(true),
    goOn: ({ decision }) => decision.fail(new Error('on purpose')),
    sent: [],
    next: ['refuse 503 agw_gateway_unavailable'],
    nextEntries: ['blocked gateway_unavailable 503'],
    entriesAfterLeaving: ['blocked gateway_unavailable 503'],
  },
  'a body that is not read follows': {
    reach: ({ envoy }) => envoy.requestHeaders(false),
    goOn: (call) => call.pass(),
    sent: [],
    next: [PASS],
    lastEntries: ['allowed'],
  },
  'the body is awaited': {
    options: { asks_body: true },
    reach: ({ envoy }) => envoy.requestHeaders(false),
    goOn: (call) => {
      call.envoy.requestBody('{}')
      call.pass()
    },
    sent: ['ask for the body'],
    next: ['pass in request_body'],
    lastEntries: ['allowed'],
  },
  'the body is there': {
    options: { asks_body: true },
    reach: async ({ envoy }) => {
      envoy.requestHeaders(false)
      envoy.requestBody('{}')
      await settle()
    },
    goOn: (call) => call.deny(),
    sent: ['ask for the body'],
    next: ['refuse 403 agw_permission_denied'],
    nextEntries: ['blocked permission_denied 403'],
    entriesAfterLeaving: ['blocked permission_denied 403'],
  },
  'trailers came in place of the body': {
    options: { asks_body: true },
    reach: async ({ envoy }) => {
      envoy.requestHeaders(false)
      envoy.requestTrailers()
      await settle()
    },
    goOn: (call) => call.pass(),
    sent: ['ask for the body'],
    next: ['refuse 400 agw_bad_request'],
    nextEntries: ['blocked bad_request 400'],
    entriesAfterLeaving: ['blocked bad_request 400'],
  },
  'the refusal is being logged': {
    is_logged: true,
    options: { slow_log: true },
    reach: async (call) => {
      call.envoy.requestHeaders(true)
      call.deny()
      await settle()
    },
    goOn: ({ log }) => log.open(),
    sent: [],
    entries: ['blocked permission_denied 403'],
    next: ['refuse 403 agw_permission_denied'],
  },
  'the refusal of an unknown key is being counted': {
    is_logged: true,
    options: { slow_log: true, is_unknown: true },
    reach: async (call) => {
      call.envoy.requestHeaders(true)
      call.deny()
      await settle()
    },
    goOn: ({ log }) => log.open(),
    sent: [],
    entries: ['unknown permission_denied'],
    next: ['refuse 403 agw_permission_denied'],
  },
  'a strict log takes the pass first': {
    options: { slow_log: true, is_strict: true },
    reach: passed,
    goOn: ({ log }) => log.open(),
    sent: [],
    entries: ['allowed'],
    next: [PASS],
  },
  'a strict log does not take the pass': {
    options: { slow_log: true, is_strict: true },
    reach: passed,
    goOn: ({ log }) => log.fail(new Error('on purpose')),
    sent: [],
    entries: ['allowed'],
    next: ['refuse 503 agw_gateway_unavailable'],
    nextEntries: ['blocked gateway_unavailable 503'],
    entriesAfterLeaving: ['blocked gateway_unavailable 503'],
  },
  'it has passed': {
    reach: passed,
    goOn: ({ envoy }) => envoy.responseHeaders(),
    sent: [PASS],
    next: ['go on response_headers'],
    lastEntries: ['allowed'],
    is_out: true,
  },
  'its response has begun': {
    reach: async (call) => {
      await passed(call)
      call.envoy.responseHeaders()
    },
    goOn: ({ envoy }) => envoy.responseBody('x'),
    sent: [PASS, 'go on response_headers'],
    next: ['go on response_body'],
    lastEntries: ['allowed'],
    is_out: true,
  },
  'a chunk of its response is looked at': {
    reach: async (call) => {
      await passed(call)
      call.envoy.responseHeaders()
      call.envoy.responseBody('slow')
      await settle()
    },
    goOn: ({ chunk }) => chunk.open(),
    sent: [PASS, 'go on response_headers'],
    next: ['go on response_body'],
    lastEntries: ['allowed'],
    is_out: true,
  },
  'a chunk is looked at that will be refused': {
    reach: async (call) => {
      await passed(call)
      call.envoy.responseHeaders()
      call.envoy.responseBody('slow')
      call.envoy.responseBody('bad')
      await settle()
    },
    goOn: ({ chunk }) => chunk.open(),
    sent: [PASS, 'go on response_headers'],
    next: ['go on response_body', 'refuse 403 agw_security_block'],
    nextEntries: ['terminated security_block'],
    leavingEntries: ['allowed'],
    is_out: true,
  },
  'the end of its response is awaited': {
    reach: async (call) => {
      await passed(call)
      call.envoy.responseHeaders()
      call.envoy.responseBody('x', true)
      await settle()
    },
    goOn: ({ envoy }) => envoy.responseTrailers(),
    sent: [PASS, 'go on response_headers', 'go on response_body'],
    next: ['go on response_trailers'],
    lastEntries: ['allowed'],
    is_out: true,
  },
  'the refusal of its response is being logged': {
    is_logged: true,
    options: { slow_log: true },
    reach: async (call) => {
      await passed(call)
      call.envoy.responseHeaders({ ':status': '200', 'x-bad': '1' })
      await settle()
    },
    goOn: ({ log }) => log.open(),
    sent: [PASS],
    entries: ['blocked security_block 403'],
    next: ['refuse 403 agw_security_block'],
    is_out: true,
  },
}

async function reached({ options, reach, sent, entries = [] }: State, more = {}): Promise<Call> {
  const call = new Call({ ...options, ...more })
  await reach(call)
  assert.deepEqual(call.envoy.sent, sent, 'sent on the way')
  assert.deepEqual(call.entries, entries, 'logged on the way')
  return call
}

/** Nothing goes out any more, whatever the decision, the log or Envoy still say. */
async function isSilent(call: Call, state: State, entries: readonly string[]): Promise<void> {
  const sent = [...call.envoy.sent]
  state.goOn(call)
  await settle()
  call.envoy.requestBody('late')
  call.envoy.responseHeaders()
  call.envoy.responseBody('late')
  call.envoy.responseTrailers()
  await settle()
  assert.deepEqual(call.envoy.sent, sent)
  assert.deepEqual(call.entries, entries)
}

for (const [name, state] of Object.entries(STATES))
  describe(`while ${name}`, () => {
    const { sent, entries = [], next, nextEntries = [], lastEntries = [] } = state
    const { is_out = false, is_logged = false } = state
    const isKnown = state.options?.is_unknown !== true

    test('it continues', async () => {
      const call = await reached(state)
      state.goOn(call)
      await settle()
      assert.deepEqual(call.envoy.sent, [...sent, ...next])
      assert.deepEqual(call.entries, [...entries, ...nextEntries])
      call.envoy.emit('end')
      assert.deepEqual(call.entries, [...entries, ...nextEntries, ...lastEntries])
      assert.ok(call.envoy.isEnded)
      await call.stream.ended
    })

    const cuts: readonly (readonly [string, Cut, string])[] = [
      ['agent_killed', KILL, KILL_ANSWER],
      [
        'gateway_unavailable',
        { reason: 'gateway_unavailable' },
        'refuse 503 agw_gateway_unavailable',
      ],
    ]
    for (const [reason, why, answer] of cuts)
      test(`a cut answers ${reason}, and nothing follows it`, async () => {
        const call = await reached(state)
        assert.equal(call.cut(why), true)
        assert.deepEqual(call.envoy.sent, [...sent, answer])
        const terminated =
          isKnown && !is_logged ? [`terminated ${reason}${is_out ? '' : ' 503'}`] : []
        assert.deepEqual(call.entries, [...entries, ...terminated])
        const isCounted = call.counted.at(-1) === `terminated ${reason}`
        assert.equal(isCounted, !is_logged, 'a refusal is counted and logged once')
        assert.equal(call.cut(why), false, 'it was cut already')
        await isSilent(call, state, [...entries, ...terminated])
        assert.equal(call.inFlight.size, isKnown ? 1 : 0, 'held until Envoy has ended the stream')
        call.envoy.emit('end')
        await call.stream.ended
        assert.equal(call.inFlight.size, 0)
        assert.deepEqual(call.entries, [...entries, ...terminated])
      })

    const endings: readonly (readonly [string, (call: Call) => void])[] = [
      ['the caller leaves', ({ envoy }) => void envoy.emit('cancelled')],
      ['Envoy ends the stream', ({ envoy }) => void envoy.emit('end')],
      ['the stream fails', ({ envoy }) => void envoy.emit('error', { details: 'reset' })],
      ['a message cannot be read', ({ envoy }) => envoy.bytes(Buffer.from([0x12, 0x7f]))],
      ['a message is of no known kind', ({ envoy }) => envoy.bytes(Buffer.alloc(0))],
    ]
    for (const [what, end] of endings)
      test(`${what}: nothing is sent any more, and the call has one last word in the log`, async () => {
        const call = await reached(state)
        end(call)
        assert.deepEqual(call.envoy.sent, sent)
        const last = state.leavingEntries ?? (is_out ? lastEntries : [])
        assert.deepEqual(call.entries, [...entries, ...last])
        assert.equal(call.inFlight.size, 0)
        await call.stream.ended
        assert.equal(call.cut(), false, 'it has ended')
        const after = state.entriesAfterLeaving ?? []
        await isSilent(call, state, [...entries, ...last, ...after])
        assert.equal(call.closed, is_out ? 1 : 0, 'the inspector is closed once')
        call.envoy.emit('end')
        call.envoy.emit('cancelled')
        assert.deepEqual(call.entries, [...entries, ...last, ...after])
      })

    test('a caller that has left before Envoy ends the stream is counted as one end', async () => {
      const call = await reached(state)
      call.envoy.emit('cancelled')
      call.envoy.emit('end')
      assert.ok(call.envoy.isEnded)
      assert.equal(call.inFlight.size, 0)
    })
  })

test('where Envoy has the access log, it writes the entry of a passed call', async () => {
  const call = new Call({ has_access_log: true })
  await passed(call)
  const [message] = call.envoy.messages
  const facts = message.dynamic_metadata.fields.agw.structValue.fields
  assert.match(facts.f.stringValue, /"agent_id":"a"/)
  call.envoy.responseHeaders()
  call.envoy.emit('end')
  assert.deepEqual(call.entries, [])
  assert.equal(call.counted.join(), 'allowed ')
})

test('a trace is told of the decision, once, and of what is done to the call afterwards', async () => {
  const begun = (): Call => {
    const call = new Call({ slow_log: true })
    call.envoy.requestHeaders(true)
    return call
  }
  const refused = begun()
  refused.deny()
  await settle()
  assert.deepEqual(refused.traced, [], 'not before it is logged')
  refused.log.open()
  await settle()
  const cutFirst = begun()
  cutFirst.deny()
  await settle()
  cutFirst.cut()
  cutFirst.log.open()
  await settle()
  const cutLater = begun()
  await passed(cutLater)
  cutLater.cut()
  const withheld = begun()
  await passed(withheld)
  withheld.envoy.responseHeaders({ ':status': '200', 'x-bad': '1' })
  await settle()
  assert.deepEqual(
    [refused, cutFirst, cutLater, withheld].map(({ traced }) => traced),
    [
      ['decided blocked permission_denied 403'],
      ['decided terminated agent_killed 503'],
      ['decided allowed', 'passed terminated agent_killed'],
      ['decided allowed', 'passed blocked security_block 403'],
    ],
  )
})

test('a body that is requested twice is buffered once, and a missing body is empty', async () => {
  const call = new Call()
  call.envoy.requestHeaders(false)
  const [first, second] = [call.io?.body('scan'), call.io?.body('scan')]
  call.envoy.requestBody('{"a":1}')
  assert.equal((await first)?.toString(), '{"a":1}')
  assert.equal((await second)?.toString(), '{"a":1}')
  assert.deepEqual(call.envoy.sent, ['ask for the body'])
  const empty = new Call({ asks_body: true })
  empty.envoy.requestHeaders(true)
  await settle()
  assert.equal(empty.body, '')
  assert.deepEqual(empty.envoy.sent, [])
})

test('a call that left the list of calls in flight keeps its own answer: a kill of its agent does not find it', async () => {
  const call = new Call()
  call.envoy.requestHeaders(true)
  call.io?.leaveInFlight()
  assert.equal(call.inFlight.size, 0)
  assert.deepEqual(await call.inFlight.cutAgent('o', 'a', KILL), { terminated: 0, unconfirmed: 0 })
  call.deny()
  await settle()
  assert.deepEqual(call.envoy.sent, ['refuse 403 agw_permission_denied'])
})

test('a call whose stream has ended is not registered in flight when its agent becomes known', () => {
  const call = new Call({ is_unknown: true })
  call.envoy.requestHeaders(true)
  call.envoy.emit('cancelled')
  call.io?.registerInFlight('o', 'a')
  assert.equal(call.inFlight.size, 0)
})

test('only a probe with a secret of the gateway is refused without an entry, a count and a span', async () => {
  const rows = [
    ['a probe', true, [], []],
    ['of a caller', true, ['unknown permission_denied'], ['blocked permission_denied']],
    ['a probe', false, ['blocked permission_denied 403'], ['blocked permission_denied']],
  ] as const
  for (const [pass, is_unknown, entries, counted] of rows) {
    const call = new Call({ is_unknown })
    call.envoy.requestHeaders(true, { 'x-agw-probe': pass })
    call.deny()
    await settle()
    assert.deepEqual(call.envoy.sent, ['refuse 403 agw_permission_denied'])
    assert.deepEqual([call.entries, call.counted], [entries, counted])
    assert.equal(call.traced.length, entries.length)
  }
})

test('the trailers of a request that has passed do not go on, each named once', async () => {
  const call = new Call()
  call.envoy.requestHeaders(false)
  call.pass()
  await settle()
  call.envoy.requestTrailers({ 'x-a': '1', 'X-B': '2' })
  assert.deepEqual(call.envoy.sent, [PASS, 'go on request_trailers'])
  const { header_mutation } = call.envoy.messages[1].request_trailers
  assert.deepEqual(header_mutation.remove_headers, ['x-a', 'X-B'])
})

test('a body that does not arrive in time ends the call, in the words of Envoy', async (context) => {
  context.mock.timers.enable({ apis: ['setTimeout'] })
  const late = new Call({ asks_body: true })
  const whole = new Call({ asks_body: true })
  for (const call of [late, whole]) call.envoy.requestHeaders(false)
  await settle()
  whole.envoy.requestBody('text')
  context.mock.timers.tick(30_000)
  whole.pass()
  await settle()
  assert.deepEqual(late.envoy.sent.slice(1), ['refuse 408 held_body_timeout'])
  // Envoy reports it in its access log, from which the entry is written.
  assert.equal(late.envoy.messages[1].dynamic_metadata, null)
  assert.deepEqual(late.entries, [])
  assert.equal(late.cut(), false)
  assert.equal(whole.body, 'text')
  assert.equal(whole.envoy.sent.at(-1), 'pass in request_body')
})

test('Envoy is asked for more time only while the call is decided', async () => {
  const call = new Call()
  call.envoy.requestHeaders(true)
  call.io?.moreTime(299_500)
  call.pass()
  await settle()
  call.io?.moreTime(1)
  assert.equal(call.envoy.messages.length, 2)
  const [{ response, dynamic_metadata, override_message_timeout: more }] = call.envoy.messages
  assert.deepEqual([response, dynamic_metadata, Number(more.seconds)], [undefined, null, 300])
})

test('an answer of Envoy itself, before the call has passed, goes out as it is', async () => {
  const call = new Call()
  call.envoy.requestHeaders(true)
  call.envoy.responseHeaders({ ':status': '408' })
  call.envoy.responseBody('late', true)
  await settle()
  assert.deepEqual(call.envoy.sent, ['go on response_headers', 'go on response_body'])
  call.pass()
  await settle()
  call.envoy.emit('end')
})

test('an inspector that throws ends the call', async () => {
  const call = new Call()
  await passed(call)
  call.envoy.responseHeaders()
  call.envoy.responseBody('throws')
  await settle()
  assert.equal(call.envoy.sent.at(-1), 'refuse 503 agw_gateway_unavailable')
  assert.deepEqual(call.errors, ['a response could not be inspected'])
  assert.deepEqual(call.entries, ['terminated gateway_unavailable'])
})

test('chunks are answered in their order, each after the one before', async () => {
  const call = new Call()
  await passed(call)
  call.envoy.responseHeaders()
  call.envoy.responseBody('slow')
  call.envoy.responseBody('x')
  call.envoy.responseTrailers()
  await settle()
  assert.deepEqual(call.envoy.sent, [PASS, 'go on response_headers'])
  call.chunk.open()
  await settle()
  assert.deepEqual(call.envoy.sent.slice(2), [
    'go on response_body',
    'go on response_body',
    'go on response_trailers',
  ])
})

describe('an Envoy that does not keep streams open', () => {
  /** Calls of one connection, with a clock that the test sets. */
  const connection = (must_keep = false) => {
    const clock = { now_ms: 0 }
    const reports: number[] = []
    const { unwatched } = new CallsInFlight()
    const watch = new StreamWatch({
      unwatched,
      must_keep,
      nowMs: () => clock.now_ms,
      report: () => void reports.push(clock.now_ms),
    })
    return { clock, reports, unwatched, watch, count: () => unwatched.count('o', 'a') }
  }
  const passed = async (watch: StreamWatch): Promise<Call> => {
    const call = new Call({ watch })
    call.envoy.requestHeaders(true)
    call.pass()
    await settle()
    return call
  }
  const closesEarly = async (watch: StreamWatch): Promise<Call> => {
    const call = await passed(watch)
    call.envoy.emit('end')
    return call
  }
  const keeps = async (watch: StreamWatch): Promise<void> => {
    const call = await passed(watch)
    call.envoy.responseHeaders()
    call.envoy.responseBody('all', true)
    await settle()
    call.envoy.emit('end')
  }

  test('a pass without a body carries the modes that keep the stream open', async () => {
    const call = await passed(connection().watch)
    const mode = call.envoy.messages[0].mode_override
    assert.equal(mode.response_trailer_mode, 1)
    assert.equal(mode.response_header_mode, 1)
    assert.equal(mode.response_body_mode, 0)
  })

  test('a stream that ends right after the pass leaves the call unconfirmed for every later kill', async () => {
    const { watch, count } = connection()
    await closesEarly(watch)
    await closesEarly(watch)
    assert.equal(count(), 2)
  })

  test('a stream that ends right after the headers of the response does too, and after all of the response does not', async () => {
    const { watch, count } = connection()
    const call = await passed(watch)
    call.envoy.responseHeaders()
    call.envoy.emit('end')
    assert.equal(count(), 1)
    const whole = connection()
    const other = await passed(whole.watch)
    other.envoy.responseHeaders()
    other.envoy.responseTrailers()
    other.envoy.emit('end')
    assert.equal(whole.count(), 0)
  })

  test('it is reported after three calls, and once a minute', async () => {
    const { watch, reports, clock } = connection()
    for (const expected of [0, 0, 1, 1]) {
      await closesEarly(watch)
      assert.equal(reports.length, expected)
    }
    clock.now_ms = 60_000
    await closesEarly(watch)
    assert.equal(reports.length, 2)
  })

  test('callers that disconnect, and kills, do not make it look so: the streams were open when Envoy had read the answer', async () => {
    const { watch, reports, count } = connection()
    for (let i = 0; i < 6; i++) {
      const call = await passed(watch)
      if (i % 2 === 0) {
        call.envoy.responseHeaders()
        await settle()
      }
      call.envoy.read()
      if (i > 3) call.cut()
      call.envoy.emit('end')
    }
    assert.deepEqual([reports.length, count()], [0, 0])
  })

  test('streams that end with their connection show nothing, and at most eight are checked at a time', async () => {
    const { watch, reports, count } = connection()
    const calls: Call[] = []
    for (let i = 0; i < 8; i++) calls.push(await passed(watch))
    const isCheck = (): boolean => {
      const begun = watch.begin({ organization_id: 'o', agent_id: 'a' })
      return typeof begun === 'object' && begun?.isCheck === true
    }
    assert.equal(isCheck(), false)
    for (const call of calls) {
      call.envoy.isLost = true
      call.envoy.emit('cancelled')
    }
    assert.equal(isCheck(), true)
    assert.deepEqual([reports.length, count()], [0, 0])
  })

  test('a stream that is kept until its response begins, and not longer, is noticed', async () => {
    const { watch, reports, count } = connection()
    for (let i = 0; i < 3; i++) {
      const call = await passed(watch)
      call.envoy.read()
      call.envoy.responseHeaders()
      await settle()
      call.envoy.emit('end')
    }
    assert.deepEqual([reports.length, count()], [1, 3])
  })

  test('a check that succeeds clears the calls before it, and ordinary calls are not suspected after it', async () => {
    const { watch, count } = connection()
    await closesEarly(watch)
    await closesEarly(watch)
    await keeps(watch)
    assert.equal(count(), 0)
    await closesEarly(watch)
    assert.equal(count(), 0)
  })

  test('it is checked again after ten seconds, and every failed check counts', async () => {
    const { watch, count, clock, reports } = connection()
    await keeps(watch)
    clock.now_ms = 10_000
    for (let i = 0; i < 3; i++) await closesEarly(watch)
    assert.equal(count(), 3)
    assert.equal(reports.length, 1)
    // One listener of two may be fine; the calls of the other still cannot be cut.
    await keeps(watch)
    assert.equal(count(), 3)
  })

  test('with the setting its calls are refused, except one a minute that checks it', async () => {
    const { watch, clock } = connection(true)
    for (let i = 0; i < 3; i++) await closesEarly(watch)
    const refused = await passed(watch)
    assert.deepEqual(refused.envoy.sent, ['refuse 503 agw_gateway_unavailable'])
    clock.now_ms = 60_000
    await keeps(watch)
    const allowed = await passed(watch)
    assert.deepEqual(allowed.envoy.sent, ['pass in request_headers'])
  })

  test('a call that is cut at the moment its stream closes is not certain to have been cut', async () => {
    const { watch, count, reports } = connection()
    for (let i = 0; i < 4; i++) {
      const call = await passed(watch)
      call.cut()
      call.envoy.emit('end')
    }
    assert.equal(count(), 4)
    // Kills themselves end streams, so they are no sign of what Envoy does.
    assert.equal(reports.length, 0)
  })

  test('bodies of checks: small ones whole, those without a length in chunks, large ones and other protocols not at all', async () => {
    for (const [length, mode, status = '200'] of [
      ['65536', 2],
      ['65537', null],
      [null, 1],
      [null, null, '101'],
    ] as const) {
      const { watch } = connection()
      const call = new Call({ watch })
      call.envoy.requestHeaders(true)
      call.decision.open({
        kind: 'forward',
        changes: { set: [], remove: [], body: null },
        inspector: {
          ...call.inspector,
          headers: (headers) => ({ kind: 'pass', headers, body: 'unseen' }),
        },
        rate: null,
        standing: STANDING,
      })
      await settle()
      call.envoy.responseHeaders({
        ':status': status,
        ...(length === null ? {} : { 'content-length': length }),
      })
      await settle()
      const override = call.envoy.messages[1].mode_override
      assert.equal(override?.response_body_mode ?? null, mode)
    }
  })
})

test('calls that can no longer be cut are counted for an hour, and for every agent if there are too many', () => {
  let now_ms = 0
  const calls = new UnwatchedCalls(() => now_ms)
  const source = {}
  for (let i = 0; i < 10_001; i++) calls.add('o', `a${i}`, source)
  assert.equal(calls.count('o', 'a0'), 1)
  assert.equal(calls.count('o', 'never seen'), 1)
  now_ms = 3_600_000
  assert.equal(calls.count('o', 'a0'), 0)
  assert.equal(calls.count('o', 'never seen'), 0)
  assert.equal(calls.total, 10_001)
})

test('the bytes of a body count until its call is decided, refused, cut or left, and no longer', async () => {
  const ends: readonly ((call: Call) => void)[] = [
    (call) => call.pass(),
    (call) => call.deny(),
    (call) => void call.cut(),
    (call) => void call.envoy.emit('cancelled'),
    (call) => void call.envoy.emit('end'),
  ]
  for (const [n, end] of ends.entries()) {
    const call = new Call({ asks_body: true })
    call.envoy.requestHeaders(false)
    await settle()
    assert.equal(call.io?.reserve('o', 'a', 80), true)
    assert.equal(call.heldBytes.size, 2, `${n}`)
    if (n < 2) call.envoy.requestBody('x')
    end(call)
    await settle()
    assert.equal(call.heldBytes.size, 0, `${n}`)
  }
})

test('an agent and an organization have a share of the bytes that are held', () => {
  const held = new HeldBytes({ per_agent: 100, per_organization: 150, timeout_ms: 1 })
  const first = held.take('o', 'a', 100)
  assert.ok(first !== null)
  assert.equal(held.take('o', 'a', 1), null)
  const second = held.take('o', 'b', 50)
  assert.ok(second !== null)
  // The organization is full: for another agent, and for a caller that only the body names.
  assert.equal(held.take('o', 'c', 1), null)
  assert.equal(held.take('o', '', 1), null)
  assert.ok(held.take('p', 'a', 100) !== null)
  first()
  first()
  assert.equal(held.take('o', 'a', 101), null)
  const third = held.take('o', 'a', 100)
  assert.ok(third !== null)
  third()
  second()
  // A body that is larger than the share can be sent alone.
  assert.ok(held.take('o', 'a', 1_000) !== null)
  assert.equal(held.take('o', 'b', 1), null)
})

test('a call that comes after a pause of this process is decided when it is known whether it may serve', async () => {
  const pause = gate<void>()
  const call = new Call({ afterPause: pause.promise })
  call.envoy.requestHeaders(true)
  await settle()
  assert.equal(call.io, null, 'not decided')
  pause.open()
  await settle()
  assert.notEqual(call.io, null)
  call.pass()
  await settle()
  assert.deepEqual(call.envoy.sent, ['pass in request_headers'])
})

test('a call that would not be admitted any more ends with the code of a new call, and its details in the log', async () => {
  const denial = { reason: 'permission_denied', details: { reason: 'no_scope' } } as const
  const waiting = new Call()
  await passed(waiting)
  assert.equal(waiting.stream.standing, STANDING)
  assert.equal(waiting.stream.cut({ reason: 'not_admitted', denial }), true)
  assert.equal(waiting.envoy.sent.at(-1), 'refuse 503 agw_permission_denied')
  assert.deepEqual(waiting.entries, ['terminated permission_denied'])
  assert.equal(waiting.stream.cut({ reason: 'not_admitted', denial }), false)
})

test('a call is reviewed if anything has changed since its decision began', async () => {
  for (const changes of [0, 1]) {
    const call = new Call()
    call.envoy.requestHeaders(true)
    call.reviews.generation += changes
    call.pass()
    await settle()
    assert.deepEqual(call.reviews.added, changes === 0 ? [] : [call.stream])
  }
})

/** What can happen to a call, in any order. */
const EVENTS: Readonly<Record<string, (call: Call) => void>> = {
  forward: (call) => call.pass(),
  refuse: (call) => call.deny(),
  fail: ({ decision }) => decision.fail(new Error('on purpose')),
  body: ({ envoy }) => envoy.requestBody('{}'),
  trailers: ({ envoy }) => envoy.requestTrailers(),
  response: ({ envoy }) => envoy.responseHeaders(),
  'bad response': ({ envoy }) => envoy.responseHeaders({ ':status': '200', 'x-bad': '1' }),
  cut: (call) => void call.cut(),
  leave: ({ envoy }) => void envoy.emit('cancelled'),
}

test('whatever happens in whatever order, a call changes as its table says, is answered once and logged once', async () => {
  const seen = new Set<string>()
  const walk = async (names: readonly string[], options: Options): Promise<void> => {
    const call = new Call(options)
    call.decision.promise.catch(() => undefined)
    call.envoy.requestHeaders(false)
    await settle()
    for (const name of names) {
      const from = call.stream.state
      EVENTS[name]?.(call)
      await settle()
      const to = call.stream.state
      if (to === from) continue
      assert.ok((NEXT_STATES[from] as readonly string[]).includes(to), `${names.join()}: ${to}`)
      seen.add(`${from} ${to}`)
    }
    const story = `${names.join()}: ${call.envoy.sent.join()}, ${call.entries.join()}`
    const refusals = call.envoy.sent.filter((one) => one.startsWith('refuse'))
    assert.ok(refusals.length <= 1, story)
    assert.ok(refusals.length === 0 || call.envoy.sent.at(-1) === refusals[0], story)
    assert.ok(call.entries.length <= 1, story)
    call.envoy.emit('cancelled')
    assert.equal(call.stream.state, 'ended')
    assert.deepEqual([call.inFlight.size, call.heldBytes.size], [0, 0], story)
  }
  const names = Object.keys(EVENTS)
  for (const options of [{}, { asks_body: true }, { has_access_log: true }])
    for (const first of names)
      for (const second of names)
        for (const third of names) await walk([first, second, third], options)
  const table = Object.entries(NEXT_STATES).flatMap(([from, next]) =>
    next.map((to) => `${from} ${to}`),
  )
  assert.deepEqual([...seen].sort(), table.sort())
})
