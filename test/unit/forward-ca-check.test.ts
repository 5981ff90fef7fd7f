import assert from 'node:assert/strict'
import { test } from 'node:test'
import { checkForwardCa } from '../../cli/doctor/check-forward-ca.ts'

const NOW = new Date('2026-06-01T00:00:00.000Z')
const since = '2026-05-01T10:00:00.000Z'
const DAY_MS = 86_400_000

const at = (days: number): string => new Date(NOW.getTime() + days * DAY_MS).toISOString()
const one = (role: string, days = 3_000) => ({ role, sha256: `${role}-print`, not_after: at(days) })
const ca = (certificates: readonly object[], more: object = {}) => ({
  status: 200,
  body: { source: 'store', certificates, rotation_since: null, ...more },
})
const edge = (edge_id: string, forward_ca?: string | null) => ({ edge_id, forward_ca })

test('doctor warns of a CA that ends soon, of a rotation left half done, and of an edge with another CA', () => {
  const current = one('current')
  const rows: readonly (readonly [
    object,
    readonly object[],
    readonly (readonly [string, RegExp])[],
  ])[] = [
    [{ status: 404, body: null }, [edge('a', 'x')], []],
    [{ status: 0, body: null }, [], []],
    [ca([]), [], []],
    [ca([current]), [], [['ok', /^valid until 2034-.*no edge/]]],
    [ca([current]), [edge('a', 'current-print'), edge('b', null), edge('old')], [['ok', /./]]],
    [ca([one('current', 30)]), [], [['ok', /./]]],
    [ca([one('current', 29.9)]), [], [['warning', /expires in 29 days, on 2026-06-30/]]],
    [ca([one('current', 0)]), [], [['warning', /expires in 0 days/]]],
    [ca([one('current', -1)]), [], [['failed', /expired on 2026-05-31/]]],
    [
      ca([current, one('next', 1)], { rotation_since: since }),
      [],
      [['warning', /prepared and not in use, since 2026-05-01T10/]],
    ],
    [
      ca([current, one('previous', -1)], { rotation_since: since }),
      [],
      [['warning', /still get the previous CA, since 2026-05-01T10/]],
    ],
    [ca([current, one('next')]), [], [['warning', /not in use$/]]],
    [
      ca([current]),
      [edge('a', 'previous-print'), edge('b', 'current-print')],
      [['warning', /^edge a issues certificates with another CA/]],
    ],
    [
      ca([current, one('previous')]),
      [edge('a', 'previous-print')],
      [
        ['warning', /previous CA/],
        ['warning', /^edge a/],
      ],
    ],
    [
      ca([one('current', 5)], { source: 'files' }),
      [edge('a', 'x')],
      [
        ['warning', /expires/],
        ['warning', /^edge a/],
      ],
    ],
  ]
  for (const [answer, edges, expected] of rows) {
    const found = checkForwardCa(answer as never, edges as never, NOW)
    assert.deepEqual(
      found.map(({ state }) => state),
      expected.map(([state]) => state),
      JSON.stringify(answer),
    )
    for (const [i, [state, says]] of expected.entries()) {
      assert.match(found[i]?.says ?? '', says)
      assert.equal(found[i]?.check, 'forward CA')
      assert.equal(found[i]?.advice === undefined, state === 'ok')
    }
  }
})
