import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { type ForeignFilter, foreignEnvoy } from '../kit/foreign-envoy.ts'
import { closeOpenCalls, openCall } from '../kit/open-call.ts'
import { type Fleet, startFleet } from '../kit/start-fleet.ts'
import { until } from '../kit/until.ts'

let fleet: Fleet

before(async () => {
  fleet = await startFleet()
})

after(async () => {
  closeOpenCalls()
  await fleet.stop()
})

const gateway: Omit<ForeignFilter, 'response_header_mode'> = {
  allow_mode_override: true,
  response_trailer_mode: 'SKIP',
}

for (const response_header_mode of ['SKIP', 'SEND'] as const)
  test(`a kill cuts calls without a body where the filter skips response trailers (response headers: ${response_header_mode})`, async () => {
    const envoy = await fleet.addEnvoy(foreignEnvoy({ ...gateway, response_header_mode }))
    const access = await fleet.operator.makeAccess(
      `${fleet.upstream.origin}/kept-${response_header_mode}`,
    )
    const stream = openCall(envoy.url, `${access.base_url}/sse`, access.headers)
    assert.equal(await stream.answered, 200)
    const receipt = await fleet.operator.send('POST', `/admin/agents/${access.agent.agent_id}/kill`)
    assert.equal(receipt.in_flight_requests_terminated, 1)
    assert.equal(receipt.complete, true)
    assert.deepEqual(
      receipt.edges.map(({ unconfirmed }: any) => unconfirmed),
      [0],
    )
    assert.equal((await stream.ended).is_whole, false)
  })

for (const response_header_mode of ['SKIP', 'SEND'] as const)
  test(`a kill says that it cannot cut calls where the filter ignores modes (response headers: ${response_header_mode})`, async () => {
    const envoy = await fleet.addEnvoy(
      foreignEnvoy({ ...gateway, allow_mode_override: false, response_header_mode }),
    )
    const access = await fleet.operator.makeAccess(
      `${fleet.upstream.origin}/lost-${response_header_mode}`,
    )
    const streams = [1, 2, 3].map(() =>
      openCall(envoy.url, `${access.base_url}/quiet`, access.headers),
    )
    for (const { answered } of streams) assert.equal(await answered, 200)
    const receipt = await fleet.operator.send('POST', `/admin/agents/${access.agent.agent_id}/kill`)
    assert.equal(receipt.in_flight_requests_terminated, 0)
    assert.deepEqual(
      receipt.edges.map(({ unconfirmed }: any) => unconfirmed),
      [3],
    )
    assert.equal(receipt.complete, false)
    assert.deepEqual(
      streams.map(({ isOpen }) => isOpen()),
      [true, true, true],
    )
    // Its new calls are still refused.
    const refused = await openCall(envoy.url, `${access.base_url}/new`, access.headers).ended
    assert.equal(refused.reason, 'agent_killed')
    assert.ok(!fleet.upstream.begun.some(({ path }) => path.includes('/new')))
    await until('an alert is raised', async () => {
      const { data } = await fleet.operator.send('GET', '/admin/alerts')
      return data.some(
        ({ kind, severity }: any) => kind === 'streams_not_kept' && severity === 'critical',
      )
    })
  })

test('an Envoy that calls itself ours is checked as any other', async () => {
  const modes = { ...gateway, allow_mode_override: false, response_header_mode: 'SEND' } as const
  const envoy = await fleet.addEnvoy(foreignEnvoy({ ...modes, authority: 'agw-with-access-log' }))
  const access = await fleet.operator.makeAccess(`${fleet.upstream.origin}/claims`)
  const streams = Array.from({ length: 20 }, () =>
    openCall(envoy.url, `${access.base_url}/quiet`, access.headers),
  )
  for (const { answered } of streams) assert.equal(await answered, 200)
  const receipt = await fleet.operator.send('POST', `/admin/agents/${access.agent.agent_id}/kill`)
  assert.deepEqual(
    [receipt.complete, receipt.in_flight_requests_terminated, receipt.edges[0].unconfirmed],
    [false, 0, 20],
  )
  assert.ok(streams.every(({ isOpen }) => isOpen()))
  const { complete } = await fleet.operator.send('GET', `/admin/kills/${receipt.kill_id}`)
  assert.equal(complete, false)
})

test('with our own configuration nothing is unconfirmed, though callers disconnect', async () => {
  const access = await fleet.operator.makeAccess(`${fleet.upstream.origin}/own`)
  const url = fleet.envoys[0]?.url ?? ''
  for (let i = 0; i < 2; i++) {
    const call = openCall(url, `${access.base_url}/wait`, access.headers)
    await until(
      'it has begun',
      () => fleet.upstream.begun.filter(({ path }) => path.includes('/own/wait')).length > i,
    )
    call.abort()
  }
  // A caller that disconnects before Envoy is seen to keep the stream leaves that open. The next call that ends shows it.
  assert.equal((await openCall(url, `${access.base_url}/fine`, access.headers).ended).status, 200)
  const receipt = await fleet.operator.send('POST', `/admin/agents/${access.agent.agent_id}/kill`)
  assert.equal(receipt.complete, true)
})

test('with AGW_REQUIRE_OPEN_STREAMS calls are refused once it is known that they could not be cut', async () => {
  const strict = await startFleet({ env: { AGW_REQUIRE_OPEN_STREAMS: 'on' } })
  try {
    const envoy = await strict.addEnvoy(
      foreignEnvoy({ ...gateway, allow_mode_override: false, response_header_mode: 'SKIP' }),
    )
    const access = await strict.operator.makeAccess(`${strict.upstream.origin}/strict`)
    for (let i = 0; i < 3; i++)
      assert.equal(
        (await openCall(envoy.url, `${access.base_url}/few`, access.headers).ended).status,
        200,
      )
    const refused = await openCall(envoy.url, `${access.base_url}/late`, access.headers).ended
    assert.deepEqual([refused.status, refused.reason], [503, 'gateway_unavailable'])
    assert.ok(!strict.upstream.begun.some(({ path }) => path.includes('/late')))
    const fine = await openCall(
      strict.envoys[0]?.url ?? '',
      `${access.base_url}/fine`,
      access.headers,
    ).ended
    assert.equal(fine.status, 200)
  } finally {
    await strict.stop()
  }
})
