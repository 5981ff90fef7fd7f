import type { Static, TSchema } from 'typebox'
import type { CallerProof } from '../../core/kill/publish-kill.ts'
import type { AdminRole } from '../../core/catalogue/model.ts'
import type { Actor, AdminContext } from '../context/admin-context.ts'
import type { Answer, Outcome, Refusal } from './outcome.ts'

/** An authenticated, authorized and valid request. */
export interface AdminCall<P = unknown, Q = unknown, B = unknown> {
  readonly context: AdminContext
  readonly actor: Actor
  readonly params: P
  readonly query: Q
  readonly body: B
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>
  readonly request_id: string
}

/** A request whose caller the store has yet to check, in the script that carries it out. */
export interface UnsignedCall<P = unknown, B = unknown>
  extends Omit<AdminCall<P, unknown, B>, 'actor'> {
  readonly proof: CallerProof
  readonly source_ip: string | null
}

/**
 * One call of the admin API. Its schemas validate, type the handler, and appear in /openapi.json.
 * A handler that answers a plan may be run again when what it read has changed by the time of the write.
 */
export interface Route<
  P extends TSchema = TSchema,
  Q extends TSchema = TSchema,
  B extends TSchema = TSchema,
> {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  readonly path: `/admin/${string}` | `/webhooks${string}`
  /** The minimum role. */
  readonly role: AdminRole
  /** Whether an organization key with the use `webhooks` is accepted as well as an admin token. */
  readonly organization_key?: boolean
  /** Only for the default organization. */
  readonly deployment_wide?: boolean
  /** Never refused for its form: `body` is the received text, `query` was not checked; Idempotency-Key is its own matter. */
  readonly forgiving?: boolean
  /** A forgiving route that honours Idempotency-Key. */
  readonly repeatable?: boolean
  /** Whether it accepts If-Match. */
  readonly conditional?: boolean
  /** It may take many milliseconds, so it waits for its turn: with those that compute in one piece, or with searches. */
  readonly costly?: 'compute' | 'search' | 'verify'
  /**
   * Whether its answer is compressed for those who accept it. Only for a read whose answer has no part of a secret: the length
   * of a compressed answer tells how alike its parts are, and agents choose some of them (docs/decisions/021-compressed-answers.md).
   */
  readonly compressed?: boolean
  readonly tag: string
  readonly summary: string
  readonly params?: P
  readonly query?: Q
  readonly body?: B
  readonly answers: Readonly<Record<number, TSchema>>
  /** Content types of a 200 that is not JSON. */
  readonly produces?: readonly string[]
  handle(call: AdminCall<Static<P>, Static<Q>, Static<B>>): Promise<Outcome>
  /** Only of a forgiving route: carries it out without signing in first. Null if the caller has to. */
  handleUnsigned?(call: UnsignedCall<Static<P>, Static<B>>): Promise<Answer | Refusal | null>
}

export const defineRoute = <
  P extends TSchema = TSchema,
  Q extends TSchema = TSchema,
  B extends TSchema = TSchema,
>(
  route: Route<P, Q, B>,
): Route => route
