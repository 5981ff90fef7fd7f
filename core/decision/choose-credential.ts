import type { Agent, Connection, ConnectionStatus, Scope } from '../catalogue/model.ts'
import { credentialOwner } from './also-hosts.ts'
import {
  type CompiledCredential,
  type CompiledIntegration,
  NO_CREDENTIAL,
} from './compile-integrations.ts'

/** Which credential a call gets. The connection in it is the one that logs, approvals and reviews refer to. */
export type ChosenCredential =
  | { readonly kind: 'chosen'; readonly credential: CompiledCredential }
  /** It is refused with `connection_required` when its credential would be attached. */
  | {
      readonly kind: 'refused'
      readonly credential: CompiledCredential
      /** `missing`: there is none for the call. `gone`: the scope names one that is not there. */
      readonly status: 'missing' | 'gone' | Exclude<ConnectionStatus, 'active'>
    }

const NONE: ChosenCredential = { kind: 'chosen', credential: NO_CREDENTIAL }

/**
 * The first that exists decides: the connection that the scope names, that of the agent, that of the user if the scope lists the
 * user, the credential of the integration itself. One that cannot be used is never replaced by a wider one.
 * @param user as `X-Agw-User` names it; null if it does not
 */
export function chooseCredential(
  integration: CompiledIntegration,
  scope: Scope,
  { agent_id }: Pick<Agent, 'agent_id'>,
  user: string | null,
): ChosenCredential {
  if (credentialOwner(integration, scope) === null) return NONE
  const { connections, own } = integration
  const { connection_id = null, users = [] } = scope
  if (connection_id !== null) {
    const named = connections?.by_id.get(connection_id)
    const isOwn = isOf(named?.connection, ['shared', `agent:${agent_id}`])
    return named === undefined || !isOwn ? refused('gone') : usable(named)
  }
  const found =
    connections?.by_subject.get(`agent:${agent_id}`) ??
    (user !== null && users.includes(user)
      ? connections?.by_subject.get(`user:${user}`)
      : undefined)
  if (found !== undefined) return usable(found)
  const isPublic = connections === null && users.length === 0
  return own.credential.auth.type === 'none' && !isPublic ? refused('missing') : own
}

const isOf = (connection: Connection | null | undefined, subjects: readonly string[]): boolean =>
  connection != null && subjects.includes(connection.subject)

const refused = (status: 'missing' | 'gone'): ChosenCredential => ({
  kind: 'refused',
  credential: NO_CREDENTIAL,
  status,
})

function usable(credential: CompiledCredential): ChosenCredential {
  const status = credential.connection?.status ?? 'active'
  return status === 'active'
    ? { kind: 'chosen', credential }
    : { kind: 'refused', credential, status }
}
