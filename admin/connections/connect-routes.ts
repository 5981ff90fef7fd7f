import { type Static, Type } from 'typebox'
import type {
  Agent,
  Connection,
  ConnectionSubject,
  Integration,
} from '../../core/catalogue/model.ts'
import { isGivenReference } from '../../core/credential/secret-reference.ts'
import { REDIS_KEYS } from '../../core/redis/redis-keys.ts'
import {
  CONNECT_TOKEN_LENGTH_MAX,
  CONNECT_TOKEN_MS,
  type ConnectToken,
  openConnectToken,
} from '../../core/store/connect-token.ts'
import { Name, Nullable, Strict, Timestamp } from '../http/common-schemas.ts'
import { type AdminCall, defineRoute, type Route } from '../http/define-route.ts'
import {
  answer,
  conflict,
  notFound,
  type Outcome,
  type Plan,
  type Refusal,
} from '../http/outcome.ts'
import { AuthSchema } from '../integrations/auth-schema.ts'
import { planChange } from '../resources/plan-change.ts'
import { planMade } from '../resources/plan-made.ts'
import { readRecord } from '../resources/records.ts'
import type { AnyResource, Params } from '../resources/resource.ts'
import { connectionResource } from './connection-resource.ts'
import { ConnectionView, type NewConnection } from './connection-schemas.ts'
import { editConnection } from './edit-connection.ts'
import { makeConnection } from './make-connection.ts'

const Connect = Strict({
  token: Type.String({
    minLength: 1,
    maxLength: CONNECT_TOKEN_LENGTH_MAX,
    description: 'The last part of `connect_url`',
  }),
  name: Type.Optional(Name),
  /** Without it, the answer says what is asked for, and nothing is done. */
  auth: Type.Optional(AuthSchema),
})

export const ConnectView = Strict({
  agent_id: Type.String(),
  agent_name: Type.String(),
  integration_id: Type.String(),
  integration_name: Type.String(),
  base_url: Type.String(),
  subject: Type.String({ description: 'Whose the connection is or will be' }),
  connection: Nullable(ConnectionView),
  expires_at: Timestamp,
})

const GONE =
  'This link has been used, has ended, or belongs to another organization. Let the agent make its call again: the refusal has a new one.'

const NOT_BY_REFERENCE: Refusal = {
  kind: 'refusal',
  error: 'forbidden',
  message: 'Only an administrator names secrets that are kept elsewhere.',
  details: { role: 'admin' },
}

/** What `connect_url` of a refused call leads to. Its token counts once. */
export const connectRoutes: readonly Route[] = [
  defineRoute({
    method: 'POST',
    path: '/admin/connect',
    role: 'operator',
    tag: 'connections',
    summary:
      'Read what a connect_url asks for; with auth, give the credential, which uses the link up',
    body: Connect,
    answers: { 200: Type.Union([ConnectView, ConnectionView]), 201: ConnectionView },
    handle: connect,
  }),
]

async function connect(
  call: AdminCall<unknown, unknown, Static<typeof Connect>>,
): Promise<Outcome> {
  const { context, actor, body } = call
  const { redis, ring } = context
  const token = openConnectToken(ring, body.token, context.now().getTime())
  const org = actor.organization_id
  if (token === null || token.organization_id !== org) return notFound(GONE)
  const used = REDIS_KEYS.connectUsed(token.nonce)
  const [agent, integration, isUsed, found] = await Promise.all([
    readRecord<Agent>(redis, REDIS_KEYS.agents(org), token.agent_id),
    readRecord<Integration>(redis, REDIS_KEYS.integrations(org), token.integration_id),
    redis.exists(used),
    findConnection(call, token),
  ])
  if (agent === null || integration === null || isUsed === 1) return notFound(GONE)
  const subject: ConnectionSubject =
    found?.record.subject ??
    (token.user === null ? `agent:${token.agent_id}` : `user:${token.user}`)
  if (body.auth === undefined) {
    const [connection = null] =
      found === null ? [] : await connectionResource.show(call, [found.record])
    const { agent_id, agent_name } = agent.record
    const { integration_id, name, base_url } = integration.record
    return answer(200, {
      agent_id,
      agent_name,
      integration_id,
      integration_name: name,
      base_url,
      subject,
      connection,
      expires_at: new Date(token.ends_ms).toISOString(),
    })
  }
  const { auth } = body
  // It also says where they are sent.
  if (actor.role !== 'admin' && Object.values(auth).some(isGivenReference)) return NOT_BY_REFERENCE
  if (found === null && token.connection_id !== null) return notFound(GONE)
  const name = body.name ?? found?.record.name ?? subject
  const planned =
    found === null
      ? await planNew(call, token, { name, auth, subject })
      : await planGiven(call, found, { name, auth })
  if (planned.kind === 'refusal') return planned
  return {
    ...planned,
    guards: [...planned.guards, ['EXISTS', used, '', false]],
    writes: [...planned.writes, ['SET', used, '1', 'PX', CONNECT_TOKEN_MS]],
  }
}

type Connecting = AdminCall<unknown, unknown, Static<typeof Connect>>

/** The connection that could not be used, or that was created in the meantime. */
async function findConnection(
  { context: { redis }, actor: { organization_id: org } }: Connecting,
  { integration_id, connection_id, agent_id, user }: ConnectToken,
) {
  const subject = user === null ? `agent:${agent_id}` : `user:${user}`
  const id =
    connection_id ??
    Object.entries(
      await redis.hgetall(REDIS_KEYS.integrationConnections(org, integration_id)),
    ).find(([, other]) => other === subject)?.[0]
  if (id === undefined) return null
  const stored = await readRecord<Connection>(redis, REDIS_KEYS.connections(org), id)
  return stored?.record.integration_id === integration_id ? stored : null
}

async function planNew(
  call: Connecting,
  { integration_id }: ConnectToken,
  body: NewConnection,
): Promise<Plan | Refusal> {
  const made = await makeConnection({ ...call, params: { integration_id }, body })
  const resource = connectionResource as unknown as AnyResource<Connection>
  return made.kind === 'refusal' ? made : await planMade(resource, call, made)
}

async function planGiven(
  call: Connecting,
  found: { readonly text: string; readonly record: Connection },
  { name, auth }: Pick<NewConnection, 'name' | 'auth'>,
): Promise<Plan | Refusal> {
  if (found.record.status === 'active')
    return conflict(
      'already_connected',
      'The connection is active again. Change it at its own path to replace its credential.',
    )
  const value = { name, auth, status: 'active' as const }
  const params: Params = { integration_id: found.record.integration_id }
  const edited = await editConnection({
    call: { ...call, params },
    record: found.record,
    value,
    patch: value,
  })
  return edited.kind === 'refusal'
    ? edited
    : await planChange(connectionResource, call, found, edited, 'update')
}
