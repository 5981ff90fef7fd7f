import type { Connection, ConnectionStatus } from '../../core/catalogue/model.ts'
import { type Grant, openToken } from '../../core/oauth/grant.ts'
import { REDIS_KEYS } from '../../core/redis/redis-keys.ts'
import { CONNECTION, connectionOwner, ORG, ring } from './deployment.ts'
import { isFault, type Plan } from './plan.ts'
import type { SimEdge } from './sim-edge.ts'
import type { SimProvider } from './sim-provider.ts'
import type { SimStore } from './sim-store.ts'
import { Violation, type World } from './world.ts'

/** A token may be used so late: without a fault, and with a slow answer of the store and a step of its clock that is not noticed. */
const TRANSIT_MS = 20
const LATE_MS = 1_500

/** Knows which tokens the provider takes, and compares them with those that are stored. */
export class RefreshOracle {
  readonly #world: World
  readonly #store: SimStore
  readonly #provider: SimProvider
  readonly #plan: Plan
  #status: ConnectionStatus = 'active'
  #grant: Grant | null = null
  /** How often it came to need consent. */
  ended = 0
  /** Token requests until then. */
  #requests = 0
  /** Refreshes that were written. */
  written = 0
  #failedOver_ms = Number.NEGATIVE_INFINITY

  constructor(world: World, store: SimStore, provider: SimProvider, plan: Plan) {
    this.#world = world
    this.#store = store
    this.#provider = provider
    this.#plan = plan
    provider.onReuse = (token, sent_ms) => {
      // A store that has lost the last writes has the token from before.
      if (plan.provider.reuse_s === 0 && sent_ms > this.#failedOver_ms)
        world.fail(new Violation('refresh: a refresh token was used twice', token))
    }
  }

  /** The store has done something. */
  look(): void {
    const { status } = this.#connection()
    const grant = this.#stored()
    if (
      grant !== null &&
      grant.fence === (this.#grant?.fence ?? 0) &&
      this.#grant?.sent_ms != null &&
      grant.sent_ms === null
    )
      this.written++
    if (status === 'needs_consent' && this.#status === 'active') this.#hasEnded()
    this.#status = status
    this.#grant = grant
  }

  #hasEnded(): void {
    this.ended++
    this.#requests = this.#provider.requests
    const { current } = this.#provider
    const grant = this.#grant
    const held = grant === null ? null : tokenOf(grant, 'refresh_token')
    if (current === null || held !== current) return
    // The provider would still have taken it.
    const isUnknown = grant !== null && grant.sent_ms !== null && !this.#plan.provider.introspects
    if (!isUnknown)
      this.#world.fail(new Violation('refresh: ended though the token is good', current))
  }

  forgot(): void {
    this.#failedOver_ms = this.#world.now_ms
    this.#status = this.#connection().status
    this.#grant = this.#stored()
  }

  /** An edge has got an access token for a call. */
  used(access_token: string, edge: SimEdge): void {
    // What it has read before it stood is old.
    if (edge.process.resumed_ms > this.#world.now_ms - TRANSIT_MS) return
    const left_ms = this.#provider.leftOf(access_token)
    if (left_ms < -(this.#plan.steps.some(isFault) ? LATE_MS : TRANSIT_MS))
      throw new Violation('refresh: an access token that has ended', access_token)
  }

  checkEnd(isDisturbed: boolean): void {
    const { current, requests, isConsentUnclear } = this.#provider
    const isLost = this.#failedOver_ms >= 0
    const hasStepped = this.#plan.steps.some((step) => step.kind === 'clock')
    if (this.#status === 'needs_consent') {
      if (!isDisturbed && !isConsentUnclear)
        throw new Violation('refresh: ended without a fault', '')
      if (this.#grant !== null) throw new Violation('refresh: a grant without consent', '')
      if (requests > this.#requests && !isLost)
        throw new Violation('refresh: asked after its end', String(requests))
      return
    }
    if (this.#grant === null) throw new Violation('refresh: active without a grant', '')
    if (isLost || hasStepped || isConsentUnclear) return
    const held = tokenOf(this.#grant, 'refresh_token')
    if (this.#grant.sent_ms === null && held !== current)
      throw new Violation('refresh: another token is stored', `${held}, not ${current}`)
  }

  #connection(): Connection {
    return JSON.parse(this.#text(REDIS_KEYS.connections(ORG)) ?? '{}') as Connection
  }

  #stored(): Grant | null {
    return JSON.parse(this.#text(REDIS_KEYS.grants(ORG)) ?? 'null') as Grant | null
  }

  #text(key: string): string | null {
    return this.#store.model.run('HGET', [key, CONNECTION]) as string | null
  }
}

const tokenOf = (grant: Grant, member: 'access_token' | 'refresh_token'): string | null =>
  openToken(ring, connectionOwner(), grant, member)?.reveal() ?? null
