import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sourceAddress } from '../../admin/access/source-address.ts'
import { beginRecord } from '../../ext-proc/record/begin-record.ts'

const PROXY = '10.0.0.1'

/** What Envoy sends: where it cannot read an entry, the address of the proxy is the external one. */
const sources = (forwarded_for: string, hops: number, more: readonly string[] = []) => {
  const headers = { 'x-envoy-external-address': PROXY, 'x-forwarded-for': forwarded_for }
  const list = [
    ...Object.entries(headers).map(([name, value]) => ({ name, value })),
    ...more.map((name) => ({ name, value: 'x' })),
  ]
  return [
    beginRecord(list, 'edge-1', () => 0, hops).facts.source_ip,
    sourceAddress({ headers } as never, 'envoy', hops),
  ]
}

test('an address with a port or in brackets is read by the edge and the admin service alike', () => {
  const rows: readonly (readonly [string, number, string])[] = [
    ['198.51.100.7:50123', 1, '198.51.100.7'],
    ['9.9.9.9, 198.51.100.7:50123', 1, '198.51.100.7'],
    ['198.51.100.7:50123, 10.0.0.2:99', 2, '198.51.100.7'],
    ['[2001:DB8::0:A]:443', 1, '2001:db8::a'],
    ['[2001:db8::a]', 1, '2001:db8::a'],
    ['"[2001:db8::a]:1"', 1, '2001:db8::a'],
    // Plain addresses are Envoy's, and what is no address counts for nothing.
    ['198.51.100.7', 1, PROXY],
    ['999.1.1.1:5', 1, PROXY],
    ['[::1', 1, PROXY],
    ['unknown:5', 1, PROXY],
    ['198.51.100.7:50123', 2, PROXY],
    ['198.51.100.7:50123', 0, PROXY],
  ]
  for (const [text, hops, address] of rows)
    assert.deepEqual([text, ...sources(text, hops)], [text, address, address])
})

test('inside a tunnel and without an Envoy that trusts a hop, the header is a claim', () => {
  assert.equal(sources('6.6.6.6:1', 1, ['x-agw-tunnel'])[0], PROXY)
  const alone = [{ name: 'x-forwarded-for', value: '1.1.1.1, [::1]:5' }]
  assert.equal(beginRecord(alone, 'edge-1', () => 0).facts.source_ip, '::1')
  assert.equal(sourceAddress({ headers: {}, socket: {} } as never, 'api', 1), null)
})
