import { TEMPLATES } from '../../core/catalogue/templates/all.ts'
import type { Agent, Role } from './api-types.ts'
import type { Found } from './find-anything.ts'
import { linkTo } from './place.ts'

interface Action {
  readonly role: Role
  readonly title: string
  readonly href: string
}

const ACTIONS: readonly Action[] = [
  { role: 'admin', title: 'Create an agent', href: linkTo(['agents'], { do: 'create' }) },
  { role: 'admin', title: 'Add an integration', href: linkTo(['integrations'], { do: 'create' }) },
  { role: 'admin', title: 'Add a scope', href: linkTo(['scopes', 'new']) },
  { role: 'admin', title: 'Add a webhook', href: linkTo(['webhooks'], { do: 'create' }) },
  {
    role: 'operator',
    title: 'Lock an agent, an API, a key or everything',
    href: linkTo(['kills'], { do: 'lock' }),
  },
  { role: 'viewer', title: 'Explain a call', href: linkTo(['try']) },
  {
    role: 'viewer',
    title: 'Show refused calls',
    href: linkTo(['activity'], { decision: 'blocked' }),
  },
  { role: 'viewer', title: 'Follow the log live', href: linkTo(['activity'], { live: '1' }) },
]

const APIS: readonly Action[] = TEMPLATES.map(({ name, title }) => ({
  role: 'admin',
  title: `Add ${title}`,
  href: linkTo(['integrations'], { do: `add ${name}` }),
}))

interface AgentAction {
  readonly verbs: readonly string[]
  readonly role: Role
  readonly status: Agent['status'] | 'any'
  readonly title: (name: string) => string
  readonly href: (agent_id: string) => string
}

/** What can be done with an agent, by its verb and a part of the agent's name: `stop billing`. */
const AGENT_ACTIONS: readonly AgentAction[] = [
  {
    verbs: ['stop', 'kill'],
    role: 'operator',
    status: 'active',
    title: (name) => `Stop ${name} …`,
    href: (id) => linkTo(['agents', id], { do: 'kill' }),
  },
  {
    verbs: ['pause', 'lock'],
    role: 'operator',
    status: 'active',
    title: (name) => `Pause ${name} …`,
    href: (id) => linkTo(['agents', id], { do: 'pause' }),
  },
  {
    verbs: ['reactivate'],
    role: 'admin',
    status: 'killed',
    title: (name) => `Reactivate ${name} …`,
    href: (id) => linkTo(['agents', id], { do: 'reactivate' }),
  },
  {
    verbs: ['allow'],
    role: 'admin',
    status: 'any',
    title: (name) => `Allow ${name} to call an API`,
    href: (agent_id) => linkTo(['scopes', 'new'], { agent_id }),
  },
  {
    verbs: ['explain'],
    role: 'viewer',
    status: 'any',
    title: (name) => `Explain a call of ${name}`,
    href: (agent_id) => linkTo(['try'], { agent_id }),
  },
  {
    verbs: ['activity'],
    role: 'viewer',
    status: 'any',
    title: (name) => `Show the activity of ${name}`,
    href: (agent_id) => linkTo(['activity'], { agent_id }),
  },
]

export type MayDo = (role: Role) => boolean

/** The actions whose words contain a text; all that the role allows for an empty one. */
export function actionsNamed(text: string, mayDo: MayDo): readonly Found[] {
  const wanted = text.toLowerCase()
  // With no text they would hide the others.
  const all = wanted === '' ? ACTIONS : [...ACTIONS, ...APIS]
  return all
    .filter(({ role, title }) => mayDo(role) && title.toLowerCase().includes(wanted))
    .map(({ title, href }) => ({ kind: 'Action', title, detail: '', href }))
}

/** The verb that a text begins with, and the name after it; null for other texts. */
export function verbOf(text: string): { readonly verb: string; readonly name: string } | null {
  const [, verb = '', name = ''] = /^(\S+)\s+(\S.*)$/.exec(text.trim()) ?? []
  const isVerb = AGENT_ACTIONS.some(({ verbs }) => verbs.includes(verb.toLowerCase()))
  return isVerb ? { verb: verb.toLowerCase(), name } : null
}

export const agentActions = (
  verb: string,
  agents: readonly Agent[],
  mayDo: MayDo,
): readonly Found[] =>
  AGENT_ACTIONS.filter(({ verbs, role }) => verbs.includes(verb) && mayDo(role)).flatMap(
    ({ status, title, href }) =>
      agents
        .filter((agent) => status === 'any' || agent.status === status)
        .map(({ agent_id, agent_name }) => ({
          kind: 'Action',
          title: title(agent_name),
          detail: agent_id,
          href: href(agent_id),
        })),
  )
