import { secretMembers } from '../../core/credential/catalogue.ts'
import { until } from './until.ts'

/** What an operator does through the admin API, for tests to set up what they need. */
export interface Operator {
  /** Credentials and keys that it has handled; they should be nowhere in the clear. */
  readonly secrets: readonly string[]
  /** @throws on any answer that is not 2xx, unless `expect` names the status */
  readonly send: (method: string, path: string, body?: object, expect?: number) => Promise<any>
  readonly makeAgent: (more?: object) => Promise<MadeAgent>
  readonly makeOrganizationKey: (more?: object) => Promise<{ key: string; key_id: string }>
  readonly makeIntegration: (base_url: string, more?: object) => Promise<MadeIntegration>
  readonly makeScope: (
    agent_id: string,
    integration_id: string,
    more?: object,
  ) => Promise<{ scope_id: string }>
  /** An agent, an integration and a scope that allows every method and path. */
  readonly makeAccess: (base_url: string, more?: AccessOptions) => Promise<Access>
}

export interface MadeAgent {
  readonly agent_id: string
  readonly agent_name: string
  readonly api_key: string
}

export interface MadeIntegration {
  readonly integration_id: string
  readonly name: string
  readonly base_url: string
}

export interface AccessOptions {
  readonly auth?: object
  readonly rules?: readonly object[]
  readonly integration?: object
  readonly scope?: object
}

export interface Access {
  readonly agent: MadeAgent
  readonly integration: MadeIntegration
  readonly scope_id: string
  readonly base_url: string
  /** `Authorization` of the agent. */
  readonly headers: { readonly authorization: string }
}

/** The credential that an upstream sees where a test does not say otherwise. */
export const STORED_CREDENTIAL = 'stored-credential-1'

let count = 0

/** @param url the proxy's or the admin service's address */
export function operatorAt(url: string, token: string): Operator {
  const secrets: string[] = []
  const send: Operator['send'] = async (method, path, body, expect) => {
    const ask = async (): Promise<{ readonly answer: Response; readonly text: string }> => {
      const answer = await fetch(url + path, {
        method,
        headers: {
          authorization: `Bearer ${token}`,
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      })
      return { answer, text: await answer.text() }
    }
    // A store that is slow, as on a busy machine, is a 503 that says to try again.
    const isSlowStore = ({ answer, text }: Awaited<ReturnType<typeof ask>>): boolean =>
      answer.status === 503 && text.includes('gateway_unavailable')
    let { answer, text } = await ask()
    if (method === 'GET' && expect === undefined && isSlowStore({ answer, text }))
      ({ answer, text } = await until('the store answers', async () => {
        const again = await ask()
        return !isSlowStore(again) && again
      }))
    if (expect === undefined ? !answer.ok : answer.status !== expect)
      throw new Error(`${method} ${path} answered ${answer.status}: ${text}`)
    const answered = text === '' ? null : JSON.parse(text)
    for (const member of [answered?.api_key, answered?.key, answered?.token])
      if (typeof member === 'string' && answer.status === 201) secrets.push(member)
    const auth = (body as { auth?: Record<string, unknown> } | undefined)?.auth ?? {}
    for (const member of secretMembers(auth['type'])) {
      const secret = auth[member]
      if (typeof secret === 'string' && secret !== '') secrets.push(secret)
    }
    return answered
  }
  const makeAgent: Operator['makeAgent'] = (more = {}) =>
    send('POST', '/admin/agents', { agent_name: `agent ${++count}`, ...more })
  const makeIntegration: Operator['makeIntegration'] = (base_url, more = {}) =>
    send('POST', '/admin/integrations', {
      name: `integration-${++count}`,
      base_url,
      auth: { type: 'bearer', token: STORED_CREDENTIAL },
      ...more,
    })
  const makeScope: Operator['makeScope'] = (agent_id, integration_id, more = {}) =>
    send('POST', '/admin/scopes', {
      name: `scope ${++count}`,
      agent_id,
      integration_id,
      rules: [{ methods: ['*'], paths: ['/**'] }],
      // Off unless the test is about it, so that bodies stream and nothing else than the test's subject refuses.
      injection_detection: { enabled: false },
      rate_limiting: { requests_per_minute: null },
      ...more,
    })
  return {
    secrets,
    send,
    makeAgent,
    makeIntegration,
    makeScope,
    makeOrganizationKey: (more = {}) =>
      send('POST', '/admin/keys', { name: `key ${++count}`, ...more }),
    makeAccess: async (base_url, { auth, rules, integration: members = {}, scope = {} } = {}) => {
      const agent = await makeAgent()
      const integration = await makeIntegration(base_url, {
        ...(auth === undefined ? {} : { auth }),
        ...members,
      })
      const made = await makeScope(agent.agent_id, integration.integration_id, {
        ...(rules === undefined ? {} : { rules }),
        ...scope,
      })
      return {
        agent,
        integration,
        scope_id: made.scope_id,
        base_url: integration.base_url,
        headers: { authorization: `Bearer ${agent.api_key}` },
      }
    },
  }
}
