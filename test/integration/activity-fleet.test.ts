import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseDocument, visit } from 'yaml'
import { call, closeConnections } from '../kit/call.ts'
import { operatorAt } from '../kit/operator.ts'
import { startParts } from '../kit/start-parts.ts'
import { startTestUpstream } from '../kit/test-upstream.ts'
import { until } from '../kit/until.ts'

/** As an Envoy of somebody else's fleet is configured, which knows nothing of our access log. */
function withoutAccessLog(text: string): string {
  const document = parseDocument(text)
  visit(document, {
    Pair: (_key, pair) =>
      ['access_log', 'authority', 'metadata_options'].includes(String(pair.key))
        ? visit.REMOVE
        : undefined,
  })
  return document.toString({ lineWidth: 0 })
}

test('where Envoy has no access log, an allowed call is one entry when its stream has ended, and a refused one as ever', async () => {
  const api = await startTestUpstream()
  const parts = await startParts({ AGW_EGRESS_ALLOW_CIDRS: '127.0.0.0/8' }, [], withoutAccessLog)
  try {
    const operator = operatorAt(parts.apiUrl, parts.adminToken)
    const access = await operator.makeAccess(`http://127.0.0.1:${api.ports.http}/fleet`, {
      rules: [{ methods: ['POST'], paths: ['/allowed'] }],
    })
    const send = (path: string) =>
      call({
        to: parts.proxyUrl,
        path: `/${access.base_url}${path}`,
        method: 'POST',
        body: 'x',
        headers: access.headers,
      })
    assert.equal((await send('/allowed')).status, 200)
    assert.equal((await send('/denied')).status, 403)
    const entries = await until('both are in the log', async () => {
      const { data } = await operator.send(
        'GET',
        `/admin/activity?agent_id=${access.agent.agent_id}&q=/fleet/`,
      )
      return data.length >= 2 && data
    })
    assert.deepEqual(entries.map(({ event, status }: any) => [event, status]).toSorted(), [
      ['permission_denied', 403],
      ['request_allowed', null],
    ])
  } finally {
    closeConnections()
    await parts.stop()
    await api.stop()
  }
})
