import { actionsNamed, agentActions, type MayDo, verbOf } from './actions-named.ts'
import { type ApiAnswer, ask, type Problem, withQuery } from './api.ts'
import type { ActivityEntry, Agent, Integration, Page, Scope, Webhook } from './api-types.ts'
import { eventTitle } from './event-title.ts'
import { isId } from './is-id.ts'
import { PAGES } from './page-titles.ts'
import { linkTo } from './place.ts'
import { SETTINGS_TABS } from './settings-tabs.ts'

/** A place in the console that a text leads to. */
export interface Found {
  readonly kind: string
  readonly title: string
  readonly detail: string
  readonly href: string
}

export type Findings =
  | { readonly ok: true; readonly found: readonly Found[] }
  | { readonly ok: false; readonly problem: Problem }

/** Names are read this many at a time, so that an exact match is among them, and this many of a kind are shown. */
const READ = '50'
const SHOWN = 5
/** A request id has no spaces; Envoy's are UUIDs, and an edge in front may send others. */
const REQUEST_ID = /^[\w.:-]{8,128}$/
/** A search of the log that takes long returns early with a cursor. */
const LOG_PAGES_MAX = 40

/** The pages, agents, APIs, scopes, webhooks, calls and actions that a text names, the most likely first. */
export async function findAnything(text: string, mayDo: MayDo): Promise<Findings> {
  if (text === '') return { ok: true, found: actionsNamed(text, mayDo) }
  const verb = verbOf(text)
  if (verb !== null) return await findAgentActions(verb, mayDo)
  const pages = [...idsNamed(text), ...pagesNamed(text), ...actionsNamed(text, mayDo)]
  const answers = await Promise.all([
    callsNamed(text),
    ask<Page<Agent>>('GET', withQuery('/admin/agents', { q: text, limit: READ })),
    ask<Page<Integration>>('GET', withQuery('/admin/integrations', { q: text, limit: READ })),
    ask<Page<Scope>>('GET', withQuery('/admin/scopes', { q: text, limit: READ })),
    ask<Page<Webhook>>('GET', '/webhooks?limit=200'),
  ])
  const [calls, agents, integrations, scopes, webhooks] = answers
  for (const answer of answers) if (!answer.ok) return { ok: false, problem: answer.problem }
  const list = <T>(answer: typeof agents | typeof integrations | typeof scopes): readonly T[] =>
    answer.ok ? (answer.value.data as unknown as readonly T[]) : []
  const named = [
    ...list<Agent>(agents).map(ofAgent),
    ...list<Integration>(integrations).map(ofIntegration),
    ...list<Scope>(scopes).map(ofScope),
    ...(webhooks.ok ? webhooks.value.data.filter(({ name }) => holds(name, text)) : []).map(
      ofWebhook,
    ),
  ]
  return {
    ok: true,
    found: [...(calls.ok ? calls.value : []).map(ofEntry), ...nearest(named, text), ...pages],
  }
}

async function findAgentActions(
  { verb, name }: NonNullable<ReturnType<typeof verbOf>>,
  mayDo: MayDo,
): Promise<Findings> {
  const path = withQuery('/admin/agents', { q: name, limit: READ })
  const agents = await ask<Page<Agent>>('GET', path)
  if (!agents.ok) return { ok: false, problem: agents.problem }
  const exact = agents.value.data.filter(({ agent_name }) => agent_name === name)
  const found = agentActions(verb, exact.length > 0 ? exact : agents.value.data, mayDo)
  return { ok: true, found: found.slice(0, SHOWN) }
}

/** Exact names first, then those that begin with the text; a few of each kind. */
function nearest(named: readonly Found[], text: string): readonly Found[] {
  const wanted = text.toLowerCase()
  const rank = ({ title, detail }: Found): number => {
    const name = title.toLowerCase()
    if (name === wanted || detail === text) return 0
    return name.startsWith(wanted) ? 1 : 2
  }
  const counts = new Map<string, number>()
  return named
    .map((one) => ({ one, order: rank(one) }))
    .sort((a, b) => a.order - b.order)
    .filter(({ one: { kind } }) => {
      counts.set(kind, (counts.get(kind) ?? 0) + 1)
      return (counts.get(kind) ?? 0) <= SHOWN
    })
    .map(({ one }) => one)
}

type Calls =
  | { readonly ok: true; readonly value: readonly ActivityEntry[] }
  | { readonly ok: false; readonly problem: Problem }

/** The entry with this id, or the entries of the request with this id. */
async function callsNamed(text: string): Promise<Calls> {
  if (text.startsWith('act_') && isId('activity', text)) {
    const answer = await ask<ActivityEntry>('GET', `/admin/activity/${encodeURIComponent(text)}`)
    if (answer.ok) return { ok: true, value: [answer.value] }
    return answer.problem.status === 404 ? { ok: true, value: [] } : answer
  }
  if (!REQUEST_ID.test(text)) return { ok: true, value: [] }
  let cursor: string | undefined
  for (let page = 0; page < LOG_PAGES_MAX; page++) {
    const query = { request_id: text, limit: String(SHOWN), cursor }
    const path = withQuery('/admin/activity', query)
    const answer: ApiAnswer<Page<ActivityEntry>> = await ask('GET', path)
    if (!answer.ok) return answer
    cursor = answer.value.next_cursor ?? undefined
    // The entries of one request are next to each other; older ones need not be looked for.
    if (answer.value.data.length > 0 || cursor === undefined)
      return { ok: true, value: answer.value.data }
  }
  return { ok: true, value: [] }
}

const holds = (name: string, text: string): boolean =>
  name.toLowerCase().includes(text.toLowerCase())

/** Pages of one kill or of one request, by its id. */
const idsNamed = (text: string): readonly Found[] =>
  [
    { kind: 'Kill', page: 'kills', prefix: 'kil_' },
    { kind: 'Request', page: 'requests', prefix: 'arq_' },
  ]
    .filter(({ page, prefix }) => text.startsWith(prefix) && isId(page, text))
    .map(({ kind, page }) => ({ kind, title: text, detail: '', href: linkTo([page, text]) }))

const pagesNamed = (text: string): readonly Found[] =>
  [
    ...PAGES.map(([path, title]) => ({ title, href: linkTo(path === '' ? [] : [path]) })),
    ...Object.entries(SETTINGS_TABS).map(([tab, title]) => ({
      title: `Settings: ${title}`,
      href: linkTo(['settings'], { tab }),
    })),
  ]
    .filter(({ title }) => holds(title, text))
    .map((page) => ({ kind: 'Page', detail: '', ...page }))

const ofAgent = ({ agent_id, agent_name, status }: Agent): Found => ({
  kind: status === 'killed' ? 'Killed agent' : 'Agent',
  title: agent_name,
  detail: agent_id,
  href: linkTo(['agents', agent_id]),
})

const ofIntegration = ({ integration_id, name, base_url }: Integration): Found => ({
  kind: 'API',
  title: name,
  detail: base_url,
  href: linkTo(['integrations'], { q: integration_id }),
})

const ofScope = ({ scope_id, name }: Scope): Found => ({
  kind: 'Scope',
  title: name,
  detail: scope_id,
  href: linkTo(['scopes', scope_id]),
})

const ofWebhook = ({ webhook_id, name, status }: Webhook): Found => ({
  kind: status === 'failing' ? 'Failing webhook' : 'Webhook',
  title: name,
  detail: webhook_id,
  href: linkTo(['webhooks', webhook_id]),
})

const ofEntry = ({ id, event, agent_name, method, endpoint }: ActivityEntry): Found => ({
  kind: 'Call',
  title: [eventTitle(event), agent_name].filter(Boolean).join(' · '),
  detail: method === null ? '' : `${method} ${endpoint}`,
  href: linkTo(['activity', id]),
})
