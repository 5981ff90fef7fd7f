import { setTimeout as wait } from 'node:timers/promises'
import { readBaseUrl } from '../../admin/integrations/read-base-url.ts'
import type { ActivityEntry } from '../../core/activity/activity-entry.ts'
import type { Environment } from '../../core/settings/settings.ts'
import type { AdminOptions } from '../deployment/admin-access.ts'
import { callAdmin, messageOf } from '../deployment/call-admin.ts'
import { findBy, makeResource } from '../create/make-resource.ts'
import { proxyAddress } from '../deployment/proxy-address.ts'
import { operand, quoted } from '../create/creations.ts'
import { type AuthOptions, givenAuth } from '../create/given-auth.ts'
import { readPages } from '../resources/read-pages.ts'
import { RESOURCE_KINDS } from '../resources/resource-kinds.ts'
import type { Terminal } from '../terminal/ask.ts'
import { ownName } from '../terminal/own-name.ts'
import { terminalJson, terminalLines } from '../terminal/terminal-text.ts'
import { UsageError } from '../terminal/usage-error.ts'

export interface QuickstartOptions extends AdminOptions, AuthOptions {
  /** Name of the new agent. */
  readonly agent: string
  /** Wait until it has called. */
  readonly wait?: boolean
}

/** The echo API shows its end. */
const ECHO_AUTH = { type: 'bearer', token: 'stored-secret-1234' }
const WAIT_LIMIT_MS = 600_000
const POLL_MS = 500
/** Enough for what an agent can do between two polls; what is older has been shown. */
const ENTRIES = 20

interface Made {
  readonly agent_id: string
  readonly agent_name: string
  readonly api_key: string
  readonly base_url: string
  readonly proxy_url: string
}

/**
 * `agw quickstart`: a new agent that may read from one API, its key, and the calls to try.
 * @returns the exit code: 0, or 1 if no call was allowed while it waited
 * @throws with a message for the operator when something cannot be created
 */
export async function runQuickstart(
  given_url: string,
  options: QuickstartOptions,
  env: Environment,
  terminal: Terminal,
): Promise<number> {
  const { agent: wanted_name, wait: waits = false, output } = options
  const read = readBaseUrl(given_url)
  if (!read.ok) throw new UsageError(`${given_url} ${read.issue.message}.`)
  const { base_url } = read.base
  const auth = await givenAuth(options, env, terminal)
  const proxy_url = await proxyAddress(options)
  const integration_id =
    (await findBy(options, 'integrations', 'base_url', base_url))?.['integration_id'] ??
    (await makeResource(options, 'integrations', apiOf(base_url, auth)))['integration_id']
  const agent_name = await freeName(options, wanted_name)
  const created = await makeResource(options, 'agents', { agent_name })
  const { agent_id } = created
  const rules = [{ methods: ['GET', 'HEAD'], paths: ['/**'] }]
  await makeResource(options, 'scopes', { name: 'read', agent_id, integration_id, rules })
  const made = { agent_id, agent_name, api_key: created['api_key'], base_url, proxy_url } as Made
  terminal.stdout.write(
    output === 'json'
      ? `${terminalJson({ ...made, integration_id })}\n`
      : terminalLines(describe(made, ownName(env))),
  )
  return waits ? waitForCall(made.agent_id, true, options, terminal) : 0
}

function apiOf(base_url: string, auth: object | undefined): object {
  if (auth !== undefined) return { name: new URL(base_url).hostname, base_url, auth }
  if (new URL(base_url).hostname !== '127.0.0.1')
    throw new UsageError(
      `No integration has ${base_url} yet, so it needs a credential: --auth bearer`,
    )
  return { name: 'echo', base_url, auth: ECHO_AUTH }
}

/** Later commands use the name, so no other agent may have it. */
async function freeName(options: AdminOptions, wanted: string): Promise<string> {
  const taken = new Set<unknown>()
  for await (const { agent_name } of readPages(options, RESOURCE_KINDS.agents, { q: wanted }))
    taken.add(agent_name)
  for (let n = 1; ; n++) {
    const name = n === 1 ? wanted : `${wanted}-${n}`
    if (!taken.has(name)) return name
  }
}

function describe({ agent_name, api_key, base_url, proxy_url }: Made, agw: string): string {
  const name = operand(agent_name)
  const insecure = proxy_url.startsWith('https:') ? ' -k' : ''
  // What is pasted into a shell comes from the gateway.
  const target = quoted(`${base_url}/hello`)
  const call = `${quoted(`${proxy_url}/${base_url}/hello`)} -H "Authorization: Bearer $AGW_KEY"`
  return `The agent ${agent_name} may read from ${base_url}. Its key is shown only once.

  export AGW_KEY=${quoted(api_key)}
  # Allowed: the API gets the stored credential instead of the agent's key.
  curl${insecure} -i ${call}
  # Refused, until you allow it:
  curl${insecure} -i -X DELETE ${call}
  ${agw} allow --yes ${name} DELETE ${target}
  curl${insecure} -i -X DELETE ${call}
  # Stopped: from now on every call of this agent is refused, everywhere.
  ${agw} kill --reason 'trying it' ${name}
  curl${insecure} -i ${call}
`
}

/** Says why calls are refused, until one is allowed. @param isNew whether no call of the agent is older */
export async function waitForCall(
  agent_id: string,
  isNew: boolean,
  options: AdminOptions,
  { stdout, stderr }: Terminal,
): Promise<number> {
  stderr.write('Waiting for its first call …\n')
  const seen = new Set<string>()
  const query = new URLSearchParams({ agent_id, limit: String(ENTRIES) }).toString()
  const until_ms = Date.now() + WAIT_LIMIT_MS
  for (let isFirst = true; Date.now() < until_ms; await wait(POLL_MS), isFirst = false) {
    const answer = await callAdmin(options, 'GET', `/admin/activity?${query}`)
    if (answer.status !== 200) throw new Error(messageOf(answer))
    const { data } = answer.body as { readonly data: readonly ActivityEntry[] }
    const calls = data.filter(({ id, decision }) => decision !== null && !seen.has(id)).reverse()
    for (const { id, decision, method, endpoint, status, reason } of calls) {
      seen.add(id)
      if (isFirst && !isNew) continue
      const call = `${method ?? ''} ${endpoint ?? ''}: ${status ?? ''}`
      if (decision === 'allowed') {
        stdout.write(terminalLines(`Received: ${call}\n`))
        return 0
      }
      stderr.write(terminalLines(`Refused: ${call} ${reason ?? ''}\n`))
    }
  }
  stderr.write('No call was allowed in ten minutes.\n')
  return 1
}
