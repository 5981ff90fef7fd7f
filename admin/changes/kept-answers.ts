import { createHash } from 'node:crypto'
import type { Guard, Write } from '../../core/change/commit.ts'
import { REDIS_KEYS } from '../../core/redis/redis-keys.ts'
import { type KeyRing, reseal, type SealBinding, seal, unseal } from '../../core/keys/seal.ts'
import { liveEdges } from '../../core/control/live-edges.ts'
import type { AdminContext } from '../context/admin-context.ts'
import { type Answer, type Refusal, conflict } from '../http/outcome.ts'
import { waitForEdges } from './wait-for-edges.ts'

/** Answers can hold a key that is shown once, so they are sealed and kept no longer than a retry needs. */
const KEPT_MS = 10 * 60_000

export const REPLAYED = { 'idempotent-replayed': 'true' } as const

/** Which request an Idempotency-Key belongs to, and what that request was. */
export interface RequestIdentity {
  readonly digest: string
  readonly fingerprint: string
  readonly organization_id: string
  readonly token_id: string
}

/** The key counts for one token of one organization; method, path and body tell whether it is the same request. */
export function requestIdentity(request: {
  readonly idempotency_key: string
  readonly token_id: string
  readonly organization_id: string
  readonly method: string
  readonly url: string
  readonly body: unknown
}): RequestIdentity {
  const { idempotency_key, token_id, organization_id, method, url, body } = request
  return {
    digest: digestOf([token_id, organization_id, idempotency_key]),
    fingerprint: digestOf([method, url, body ?? null]),
    organization_id,
    token_id,
  }
}

/**
 * Answers of POSTs with an Idempotency-Key. An answer is written in the script of its change and only if none is
 * there, so that of two equal requests at once exactly one is carried out and both get its answer (threat model, rule 26).
 */
export class KeptAnswers {
  readonly #context: AdminContext

  constructor(context: AdminContext) {
    this.#context = context
  }

  /** Null when the request is new; a refusal when its key was used for another one. */
  async find(identity: RequestIdentity): Promise<Answer | Refusal | null> {
    const { redis, ring, settings, nowMs, now } = this.#context
    const kept = await redis.hgetall(REDIS_KEYS.idempotency(identity.digest))
    const { fingerprint, answer, epoch, written_at } = kept
    if (fingerprint === undefined || answer === undefined) return null
    if (fingerprint !== identity.fingerprint)
      return conflict(
        'idempotency_key_reused',
        'This Idempotency-Key was used for another request. Use a new one.',
      )
    const opened = unseal(ring, answer, bindingOf(identity))
    if (opened === null)
      return conflict(
        'idempotent_answer_unreadable',
        'This request was already processed, but its stored response can no longer be decrypted.',
      )
    // The first request may still be waiting for the edges; its answer means the same from here.
    if (now().getTime() - Number(written_at) < settings.killLease_ms) {
      const edges = [...(await liveEdges(redis, settings.killLease_ms)).keys()]
      const committed = { epoch: Number(epoch), edges }
      await waitForEdges(this.#context, committed, nowMs())
    }
    const { status, body } = JSON.parse(opened.reveal()) as { status: number; body: unknown }
    return { kind: 'answer', status, body, headers: REPLAYED }
  }

  guard(identity: RequestIdentity): Guard {
    return ['EXISTS', REDIS_KEYS.idempotency(identity.digest), '', false]
  }

  writes(identity: RequestIdentity, { status, body }: Answer, epoch: string): Write[] {
    const { ring, now } = this.#context
    const key = REDIS_KEYS.idempotency(identity.digest)
    const sealed = seal(ring, JSON.stringify({ status, body }), bindingOf(identity))
    return [
      ['HSET', key, 'fingerprint', identity.fingerprint, 'answer', sealed, 'epoch', epoch],
      ['HSET', key, 'written_at', now().getTime()],
      // What the seal is bound to, so that it can be sealed again.
      ['HSET', key, 'organization_id', identity.organization_id, 'token_id', identity.token_id],
      ['PEXPIRE', key, KEPT_MS],
    ]
  }
}

/** What the seal of a kept answer is bound to. */
type AnswerOwner = Omit<RequestIdentity, 'fingerprint'>

/** The same answer under the primary key; null when it does not open. */
export const resealAnswer = (ring: KeyRing, sealed: string, owner: AnswerOwner): string | null =>
  reseal(ring, sealed, bindingOf(owner))

const bindingOf = (identity: AnswerOwner): SealBinding => ({
  stored_as: 'idempotent_answer',
  organization_id: identity.organization_id,
  owner_id: identity.token_id,
  kind: 'idempotency.answer',
  origin: identity.digest,
})

export const digestOf = (parts: readonly unknown[]): string =>
  createHash('sha256').update(JSON.stringify(parts)).digest('hex')
