import type { Explanation } from '../../admin/try/explanation.ts'
import { EditableScope } from '../../admin/scopes/scope-schemas.ts'
import type { Scope, ScopeRule } from '../../core/catalogue/model.ts'
import { writeRule } from '../../core/catalogue/rule-text.ts'
import type { AdminOptions } from '../deployment/admin-access.ts'
import { callAdmin, messageOf } from '../deployment/call-admin.ts'
import { findResource } from '../resources/find-resource.ts'
import { readPages } from '../resources/read-pages.ts'
import { RESOURCE_KINDS } from '../resources/resource-kinds.ts'
import { isConfirmed, type Terminal } from '../terminal/ask.ts'
import { counted } from '../terminal/counted.ts'
import { terminalJson, terminalLines } from '../terminal/terminal-text.ts'

export interface AllowOptions extends AdminOptions {
  /** Do not ask. */
  readonly yes?: boolean
  readonly dryRun?: boolean
}

interface Call {
  readonly agent_id: string
  readonly agent_name: string
  readonly method: string
  readonly url: string
}

/** A scope as it would be saved, and the rule that lets the call pass. */
interface Wanted {
  readonly rule: ScopeRule
  /** Null: a new one. */
  readonly stored: Scope | null
  readonly scope: Readonly<Record<string, unknown>> & { readonly name: string }
}

/**
 * `agw allow`: lets an agent make one call, by one rule for exactly this method and path in the scope that comes closest, or in a
 * new scope. What would change is tried and shown before it is asked for.
 * @returns the exit code: 0 the agent may make the call, 1 it may not
 * @throws with a message for the operator when there is no such agent, or the admin API does not answer
 */
export async function runAllow(
  agent: string,
  method: string,
  url: string,
  options: AllowOptions,
  terminal: Terminal,
): Promise<number> {
  const { yes = false, dryRun = false, output } = options
  const { stdout, stderr } = terminal
  const { agent_id, agent_name } = await findResource(options, 'agents', agent)
  const call: Call = {
    agent_id: String(agent_id),
    agent_name: String(agent_name),
    method: method.toUpperCase(),
    url,
  }
  const now = await explain(call, options)
  if (now.answer === 'allowed') {
    stdout.write(terminalLines(`Already allowed by the scope ${now.scope?.name ?? ''}.\n`))
    return 0
  }
  const refuse = (why: string): 1 => {
    stderr.write(terminalLines(`${why}\n`))
    return 1
  }
  const { integration } = now
  if (now.error !== 'permission_denied' || integration === null) return refuse(cureOf(now, call))
  const path = pathBelow(integration.base_url, url)
  if (path === null)
    return refuse(`The host belongs to ${integration.name} by also_hosts: change its entry there.`)
  const wanted = await scopeFor(call, integration, path, now.nearest?.scope_id, options)
  const then = await explain(call, options, scopeToTry(wanted))
  if (then.answer === 'refused')
    return refuse(`One rule for this path does not allow it: ${reasonOf(then)}. Change the scope.`)
  const would_pass = await countPassing(call, wanted, options)
  const change = wanted.stored === null ? 'new scope' : 'scope'
  const shown = [
    `${change} ${wanted.scope.name} of ${call.agent_name} for ${integration.name}:`,
    `  + ${writeRule(wanted.rule)}`,
    `  ${counted(would_pass, 'refused call')} of the last seven days would have passed.`,
  ]
  if (output !== 'json') stdout.write(terminalLines(`${shown.join('\n')}\n`))
  if (dryRun) return 0
  if (!yes && !(await isConfirmed('Save it?', terminal)))
    return refuse('Nothing was changed. Confirm with y, or use --yes.')
  const scope_id = await save(call, wanted, options)
  stdout.write(
    output === 'json'
      ? `${terminalJson({ scope_id, rule: wanted.rule, would_pass })}\n`
      : `Saved in ${scope_id}, in force on every edge.\n`,
  )
  return 0
}

async function explain(call: Call, options: AdminOptions, scope?: object): Promise<Explanation> {
  const { agent_id, method, url } = call
  const body = { agent_id, method, url, ...(scope === undefined ? {} : { scope }) }
  return (await ask(options, 'POST', '/admin/explain', body)) as Explanation
}

async function ask(
  options: AdminOptions,
  method: string,
  path: string,
  body: object,
  headers: Readonly<Record<string, string>> = {},
): Promise<unknown> {
  const answer = await callAdmin(options, method, path, body, headers)
  if (answer.status !== 200 && answer.status !== 201) throw new Error(messageOf(answer))
  return answer.body
}

const reasonOf = ({ error, details }: Explanation): string =>
  [error, ...Object.entries(details).map(([name, value]) => `${name} ${String(value)}`)].join(', ')

/** What a rule cannot change. */
function cureOf(explanation: Explanation, { agent_id, url }: Call): string {
  const { error, details } = explanation
  if (error === 'integration_not_found')
    return `No integration covers ${url}. Add its API: agw integrations create NAME ${new URL(url).origin} --auth TYPE`
  if (error === 'agent_killed') return `The agent is killed: agw reactivate ${agent_id} --reason …`
  if (error === 'locked') return `A lock refuses it: agw unlock ${String(details['lock_id'])}`
  return `No rule can allow it: ${reasonOf(explanation)}.`
}

/** In a rule, a literal `*` is no wildcard. Null for a URL at another host. */
function pathBelow(base_url: string, url: string): string | null {
  const [base, target] = [new URL(base_url), new URL(url)]
  if (base.origin !== target.origin) return null
  const path = target.pathname.slice(base.pathname.replace(/\/$/, '').length)
  return (path === '' ? '/' : path).replaceAll('*', '%2A')
}

/** A scope that selects would allow it to other agents, too; one that is not in force allows nothing. */
async function scopeFor(
  { agent_id, agent_name, method }: Call,
  { integration_id, name }: NonNullable<Explanation['integration']>,
  path: string,
  nearest_id: string | undefined,
  options: AdminOptions,
): Promise<Wanted> {
  const now_ms = Date.now()
  const own: Scope[] = []
  const filter = { agent_id, integration_id }
  for await (const one of readPages(options, RESOURCE_KINDS.scopes, filter)) {
    const scope = one as unknown as Scope
    const { not_before, expires_at } = scope
    const isInForce =
      (not_before == null || Date.parse(not_before) <= now_ms) &&
      (expires_at == null || Date.parse(expires_at) > now_ms)
    if (scope.agent_id === agent_id && scope.integration_id === integration_id && isInForce)
      own.push(scope)
  }
  own.sort((a, b) => a.priority - b.priority)
  const rule: ScopeRule = { methods: [method], paths: [path] }
  const stored = own.find(({ scope_id }) => scope_id === nearest_id) ?? own[0] ?? null
  if (stored === null) {
    const new_name = `${agent_name} on ${name}`.slice(0, NAME_LIMIT)
    return { rule, stored, scope: { name: new_name, integration_id, rules: [rule] } }
  }
  const members = Object.keys(EditableScope.properties) as (keyof Scope)[]
  const settings = Object.fromEntries(members.map((member) => [member, stored[member]]))
  const rules = [...stored.rules, rule]
  return { rule, stored, scope: { ...settings, name: stored.name, integration_id, rules } }
}

/** As the admin API has it. */
const NAME_LIMIT = 200

const scopeToTry = ({ stored, scope }: Wanted): object =>
  stored === null ? scope : { ...scope, scope_id: stored.scope_id }

async function countPassing(
  { agent_id }: Call,
  wanted: Wanted,
  options: AdminOptions,
): Promise<number> {
  const body = { agent_id, scope: scopeToTry(wanted) }
  const trial = await ask(options, 'POST', '/admin/explain/history', body)
  return (trial as { readonly would_pass: number }).would_pass
}

async function save(
  { agent_id }: Call,
  { stored, scope }: Wanted,
  options: AdminOptions,
): Promise<string> {
  const { path } = RESOURCE_KINDS.scopes
  if (stored === null) {
    const created = await ask(options, 'POST', path, { ...scope, agent_id })
    return (created as Scope).scope_id
  }
  const one = `${path}/${encodeURIComponent(stored.scope_id)}` as const
  const { etag, body } = await callAdmin(options, 'GET', one)
  const rules = (body as Scope | null)?.rules
  if (etag === null || JSON.stringify(rules) !== JSON.stringify(stored.rules))
    throw new Error('The scope was changed concurrently. Run this command again.')
  await ask(options, 'PATCH', one, { rules: scope['rules'] }, { 'if-match': etag })
  return stored.scope_id
}
