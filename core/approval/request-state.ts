import { type KeyRing, type SealBinding, seal, unseal } from '../keys/seal.ts'
import { STATE_PREFIX } from './mcp-message.ts'

/** The access request that a client sends back as `requestState`, and the call that it is for. */
export interface RequestState {
  readonly request_id: string
  readonly digest: string
}

/** A link to connect an API that a client has shown. */
export interface ConnectState {
  readonly nonce: string
  readonly digest: string
  readonly ends_ms: number
}

interface Asker {
  readonly organization_id: string
  readonly agent_id: string
}

const bindingOf = ({ organization_id, agent_id }: Asker): SealBinding => ({
  stored_as: null,
  organization_id,
  owner_id: agent_id,
  kind: 'access_request.state',
  origin: '',
})

export const sealRequestState = (
  ring: KeyRing,
  asker: Asker,
  state: RequestState | ConnectState,
): string => `${STATE_PREFIX}${seal(ring, JSON.stringify(state), bindingOf(asker))}`

/** Null if this deployment has not sealed it for this agent. */
export function openRequestState(
  ring: KeyRing,
  asker: Asker,
  text: string,
): RequestState | ConnectState | null {
  const opened = unseal(ring, text.slice(STATE_PREFIX.length), bindingOf(asker))
  return opened === null ? null : (JSON.parse(opened.reveal()) as RequestState | ConnectState)
}
