import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import { after, before, describe, test } from 'node:test'
import { version } from '../../core/system/version.ts'
import { call, closeConnections } from '../kit/call.ts'
import { type Operator, operatorAt, STORED_CREDENTIAL } from '../kit/operator.ts'
import { openReleaseData, type ReleaseFacts, releases } from '../kit/release-data.ts'
import { type Stack, startStack } from '../kit/start-stack.ts'
import { until } from '../kit/until.ts'

// Starts this version on the data directory that an earlier release has written (test/witness/write-release-data.ts).

type Json = any

// One after the other: the stored integrations name one port.
for (const release of releases())
  describe(`data of ${release}`, () => {
    let stack: Stack
    let operator: Operator
    let facts: ReleaseFacts
    const seen: string[] = []
    const api = createServer((request, response) => {
      seen.push(`${request.url} ${request.headers.authorization ?? '-'}`)
      response.end('ok')
    })

    before(async () => {
      const data = openReleaseData(release)
      facts = data.facts
      // The stored integrations name the port. Another run of the tests on this machine may use it for now.
      await until('the port of the stored integrations is free', () =>
        once(api.listen(facts.api_port, '127.0.0.1'), 'listening').then(
          () => true,
          () => false,
        ),
      )
      stack = await startStack({
        AGW_DATA_DIR: data.folder,
        AGW_EGRESS_ALLOW_CIDRS: '127.0.0.0/8',
      })
      operator = operatorAt(stack.apiUrl, stack.adminToken)
    })
    after(async () => {
      closeConnections()
      await stack.stop()
      api.closeAllConnections()
      api.close()
    })

    const ask = async (url: string, api_key: string): Promise<readonly [number, string | null]> => {
      const headers = { authorization: `Bearer ${api_key}` }
      const answer = await call({ to: stack.proxyUrl, path: `/${url}`, headers })
      return [answer.status, answer.header('x-agw-reason') ?? null]
    }

    test(`credentials, scopes and rules decide as before`, async () => {
      const { bearer, basic, query } = facts.base_urls
      const { api_key } = facts.agent
      for (const url of [`${bearer}/a`, `${basic}/allowed/a`, `${query}/allowed/a`])
        assert.deepEqual(await ask(url, api_key), [200, null], url)
      const sent = Buffer.from('stored-user:stored-password').toString('base64')
      assert.deepEqual(seen.splice(0), [
        `/bearer/a Bearer ${STORED_CREDENTIAL}`,
        `/basic/allowed/a Basic ${sent}`,
        '/query/allowed/a?api_key=stored-query-value -',
      ])
      assert.deepEqual(await ask(`${basic}/denied`, api_key), [403, 'permission_denied'])
      const attack = `${query}/allowed/a?q=forbidden+fruit`
      assert.deepEqual(await ask(attack, api_key), [403, 'security_block'])
      assert.deepEqual(seen, [])
    })

    test(`a kill stays in force until a reactivation`, async () => {
      const { agent_id, api_key, killed_at } = facts.killed
      const url = `${facts.base_urls.bearer}/killed`
      assert.deepEqual(await ask(url, api_key), [403, 'agent_killed'])
      const agent = await operator.send('GET', `/admin/agents/${agent_id}`)
      assert.deepEqual([agent.status, agent.killed_at], ['killed', killed_at])
      const { credentials_restored } = await operator.send(
        'POST',
        `/admin/agents/${agent_id}/reactivate`,
        { reason: 'after the upgrade' },
      )
      assert.equal(credentials_restored, 1)
      assert.equal((await ask(url, api_key))[1], 'permission_denied')
      const receipt = await operator.send('POST', `/admin/agents/${agent_id}/kill`)
      assert.equal(receipt.complete, true)
      assert.deepEqual(await ask(url, api_key), [403, 'agent_killed'])
      assert.deepEqual(seen, [])
    })

    test(`every resource reads as the release showed it, and can be changed`, async () => {
      const { data: agents } = await operator.send('GET', '/admin/agents')
      const { data: scopes } = await operator.send('GET', '/admin/scopes')
      const changing = new Set(['last_seen_at', 'status', 'killed_at', 'kill_reason'])
      // Members that a release did not know have their defaults.
      const withNew = (name: string, value: Json): Json =>
        name === 'rate_limiting' ? { per: 'agent', ...value } : value
      const containsAll = (now: readonly Json[], then: readonly Json[], id: string): void => {
        assert.equal(now.length, then.length)
        for (const one of then) {
          const found = now.find((other) => other[id] === one[id])
          for (const [name, value] of Object.entries(one))
            if (!changing.has(name))
              assert.deepEqual(found?.[name], withNew(name, value), `${one[id]}.${name}`)
        }
      }
      containsAll(agents, facts.agents, 'agent_id')
      containsAll(scopes, facts.scopes, 'scope_id')
      const [scope] = scopes
      const rules = [{ methods: ['GET'], paths: ['/changed'] }]
      const changed = await operator.send('PUT', `/admin/scopes/${scope.scope_id}`, { rules })
      assert.deepEqual(changed.rules, rules)
      const { has_secret } = await operator.send('GET', `/webhooks/${facts.webhook_id}`)
      assert.equal(has_secret, true)
    })

    test(`its activity entries are found, and the edges run ${version}`, async () => {
      for (const id of facts.entries)
        assert.equal((await operator.send('GET', `/admin/activity/${id}`)).id, id)
      await until('entries of both versions are in one list', async () => {
        const path = `/admin/activity?agent_id=${facts.agent.agent_id}&limit=100`
        const { data } = await operator.send('GET', path)
        const ids = new Set(data.map(({ id }: Json) => id))
        return data.length > facts.entries.filter((id) => ids.has(id)).length
      })
      const { data: edges } = await operator.send('GET', '/admin/edges')
      assert.deepEqual(
        edges.map((edge: Json) => edge.version),
        [version],
      )
    })
  })
