import type { Denial } from './denial.ts'

/** Who sends. */
export type SocketSide = 'client' | 'api'

/** What an allowed WebSocket needs while it is open. */
export interface SocketPlan {
  /** Looks at the payload of a message or of a control frame before any of it goes on; null where this side is not scanned. */
  readonly judge: Readonly<Record<SocketSide, Judge | null>>
  readonly message_limit_bytes: number
  readonly base_url: string
  /** A message was the reason for a kill of the agent: the WebSocket must not go on, not even to be closed. */
  readonly isKilled: () => boolean
}

/** Null: it may go on. */
export type Judge = (payload: Buffer) => Denial | null | Promise<Denial | null>
