import assert from 'node:assert/strict'
import { test } from 'node:test'
import { observedCall } from '../../core/anomaly/observed-call.ts'
import { readObserved } from '../../core/anomaly/read-observed.ts'
import { endOfCall } from '../../ext-proc/access-log/end-of-call.ts'
import { lineOfCall } from '../../ext-proc/access-log/line-of-call.ts'
import type { FinishedCall } from '../../ext-proc/access-log/read-access-log.ts'
import type { CallFacts, PassedCall } from '../../ext-proc/record/passed-call.ts'
import { writeCallFacts } from '../../ext-proc/record/write-call-facts.ts'
import { finishedCall } from '../kit/finished-call.ts'

const FACTS: CallFacts = {
  organization_id: 'org_default',
  agent_id: 'agt_1',
  agent_name: 'worker',
  key_id: 'key_1',
  integration_id: 'int_1',
  scope_id: 'scp_1',
  rule: 0,
  method: 'GET',
  endpoint: '/v1/items/7',
  source_ip: '203.0.113.9',
  request_id: 'r-1',
  bytes_in: null,
  data: {},
}

/** A line of the log as the access-log receiver writes it. */
function lineOf({
  facts = {},
  event = 'request_allowed',
  end = {},
}: {
  facts?: Partial<CallFacts>
  event?: PassedCall['event']
  end?: Partial<FinishedCall>
}): string {
  const text = writeCallFacts({
    event,
    is_delivered: false,
    organization_id: 'org_default',
    facts: { ...FACTS, ...facts },
    timestamp: '2026-01-01T00:00:00.000Z',
    edge_id: 'edge-1',
    steps: [{ step: 'target', outcome: 'pass', took_us: 3 }],
  })
  const call = finishedCall(text, end)
  return lineOfCall(call, endOfCall(call), 0)?.line.slice(1, -1) ?? ''
}

const ROWS: readonly (readonly [name: string, line: Parameters<typeof lineOf>[0]])[] = [
  ['a plain call', {}],
  ['an error of the API', { end: { status: 503 } }],
  ['a call without a name', { facts: { agent_name: null, key_id: null, rule: null } }],
  ['a name with a quote', { facts: { agent_name: '","agent_id":"agt_2' } }],
  ['a name with a backslash', { facts: { agent_name: 'a\\' } }],
  ['a name that is not ASCII', { facts: { agent_name: 'Jürgen 🤖' } }],
  ['a path with members of its own', { facts: { endpoint: '/x","source_ip":"10.0.0.1","y":"' } }],
  ['a path that is not ASCII', { facts: { endpoint: '/ä' } }],
  ['a path with a line feed', { facts: { endpoint: '/a\nb' } }],
  ['a method with a quote', { facts: { method: 'G"T' } }],
  ['no path and no address', { facts: { endpoint: null, source_ip: null } }],
  ['no scope', { facts: { scope_id: null } }],
  ['no agent', { facts: { agent_id: null } }],
  ['data', { facts: { data: { mcp_tool: 'x', note: '"key_state":"revoked"' } } }],
  ['nothing was sent to the caller', { end: { status: 0, details: 'x', flags: [15] } }],
  ['the API was not reached', { end: { status: 502, details: 'dns_failure', flags: [27] } }],
  ['the processor was lost', { end: { status: 503, details: 'ext_proc_error' } }],
  ['a finding', { event: 'injection_detected' }],
]

test('an entry is observed in the same way whether it is matched as text or parsed', () => {
  for (const [name, row] of ROWS) {
    const line = lineOf(row)
    const parsed = JSON.parse(line)
    const read = readObserved(line)
    assert.deepEqual(observedCall(read), observedCall(parsed), name)
    for (const member of ['timestamp', 'event', 'agent_id', 'scope_id'] as const)
      assert.equal(read[member], parsed[member], `${name}: ${member}`)
  }
})

test('the usual form is not parsed as JSON', () => {
  // The rest of the line is not read.
  const line = lineOf({})
  const cut = line.slice(0, line.indexOf('"steps"'))
  assert.throws(() => JSON.parse(cut))
  assert.equal(readObserved(cut).source_ip, '203.0.113.9')
  assert.throws(() => readObserved(lineOf({ facts: { scope_id: null } }).slice(0, -1)))
})
