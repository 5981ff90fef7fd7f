import type { ClientStyle, TokenClient } from '../../core/credential/token-client.ts'
import type { GrantOwner } from '../../core/oauth/refresh-grant.ts'
import type { Secret } from '../../core/keys/secret.ts'
import type { FetchOutcome } from '../../core/token/fetch-token.ts'
import { type TokenFailure, tokenFailure } from '../../core/token/credential-cause.ts'
import { aheadOf, marginOf } from '../../core/token/token-life.ts'

/** Whose token is wanted. */
export interface TokenOrder {
  readonly organization_id: string
  readonly integration_id: string
  /** Null: with the credential of the integration itself. */
  readonly connection_id: string | null
  /** The agent that the token is for alone; null if others use it too. */
  readonly agent_id: string | null
  /** Of the credential. */
  readonly type: string
  /** The complete stored text of the integration: a token is valid for exactly these settings. */
  readonly revision: string
  readonly client: TokenClient | GrantClient
}

/** The tokens that a provider has issued for a connection. */
export interface GrantClient {
  readonly grant: GrantOwner
  readonly variant: ''
}

export type TokenResult =
  | { readonly kind: 'token'; readonly token: Secret }
  | { readonly kind: 'failed'; readonly failure: TokenFailure }

interface TokenCacheParts {
  /** Never rejects. */
  readonly fetch: (
    order: TokenOrder,
    style: ClientStyle,
    rejected: Secret | null,
  ) => Promise<FetchOutcome>
  /** Monotonic. */
  readonly nowMs: () => number
  /** Called for every failed fetch. */
  readonly onFailure: (order: TokenOrder, failure: TokenFailure) => void
}

interface HeldToken {
  readonly token: Secret
  readonly since_ms: number
  /** After this time the next call triggers a fetch without waiting for it. */
  readonly refresh_from_ms: number
  readonly usable_until_ms: number
}

interface Entry {
  readonly revision: string
  style: ClientStyle
  held: HeldToken | null
  /** The token that the API does not accept any more. */
  rejected: Secret | null
  fetching: Promise<TokenResult> | null
  failure: { readonly failure: TokenFailure; readonly until_ms: number } | null
  failures: number
}

/** Far more OAuth integrations than one process serves; about 3 kB each. The least recently used one is evicted first. */
export const TOKENS_MAX = 2_000
/** Half of it for one organization, whose tokens may be one for each agent; beyond that its own are evicted. */
export const TOKENS_OF_ORGANIZATION_MAX = 1_000
/** Maximum number of concurrent fetches, each for a different integration. */
export const FETCHES_MAX = 500
/** Maximum for one organization, so that its unresponsive endpoints cannot block others. */
export const FETCHES_OF_ORGANIZATION_MAX = 250
/** After a failure, calls are refused without another fetch for one second, doubled with each consecutive failure. */
const PAUSE_MS = 1_000
const PAUSE_LIMIT_MS = 30_000
/** After this time the next call looks whether the tokens of a connection were renewed; a renewed one is used from then on. */
const GRANT_LOOK_MS = 5_000
/** An upstream that rejects even a new token has another reason; this prevents a fetch with every call. */
const REJECTED_MIN_AGE_MS = 5_000

/**
 * The access tokens of this process: one fetch at a time for each integration, however many calls wait for it. A token is used
 * only for the stored version of the integration that it was fetched for; any change invalidates it.
 */
export class TokenCache {
  readonly #entries = new Map<string, Entry>()
  /** Entries of each organization. */
  readonly #held_of = new Map<string, number>()
  readonly #parts: TokenCacheParts
  #under_way = 0
  readonly #under_way_of = new Map<string, number>()
  #fetched = 0
  #failed = 0

  constructor(parts: TokenCacheParts) {
    this.#parts = parts
  }

  get counters(): { readonly fetched: number; readonly failed: number } {
    return { fetched: this.#fetched, failed: this.#failed }
  }

  get(order: TokenOrder): TokenResult | Promise<TokenResult> {
    const entry = this.#entryOf(order)
    const now_ms = this.#parts.nowMs()
    const { held } = entry
    if (held !== null && now_ms < held.usable_until_ms) {
      if (now_ms >= held.refresh_from_ms) void this.#refresh(entry, order, now_ms)
      return { kind: 'token', token: held.token }
    }
    return this.#refresh(entry, order, now_ms)
  }

  /** The upstream responded with 401 to this token: the next call uses a new one, unless this one is new. */
  rejected(order: TokenOrder, token: Secret): void {
    const entry = this.#entries.get(ownerOf(order))
    if (entry?.revision !== order.revision || entry.held?.token !== token) return
    const isOld = this.#parts.nowMs() - entry.held.since_ms >= REJECTED_MIN_AGE_MS
    // That of a connection may have been replaced; looking costs no request.
    if (isOld || 'grant' in order.client) entry.held = null
    if (isOld) entry.rejected = token
  }

  #entryOf(order: TokenOrder): Entry {
    const owner = ownerOf(order)
    const { revision } = order
    const known = this.#entries.get(owner)
    const { organization_id } = order
    const all = this.#entries.size >= TOKENS_MAX
    const own = (this.#held_of.get(organization_id) ?? 0) >= TOKENS_OF_ORGANIZATION_MAX
    if (known?.revision === revision) {
      if (all || own) {
        this.#entries.delete(owner)
        this.#entries.set(owner, known)
      }
      return known
    }
    if (known !== undefined) this.#drop(owner)
    else if (all || own) this.#drop(this.#oldest(own ? `${organization_id} ` : ''))
    const entry: Entry = {
      revision,
      style: 'basic',
      held: null,
      rejected: null,
      fetching: null,
      failure: null,
      failures: 0,
    }
    this.#entries.set(owner, entry)
    this.#held_of.set(organization_id, (this.#held_of.get(organization_id) ?? 0) + 1)
    return entry
  }

  #oldest(prefix: string): string {
    for (const owner of this.#entries.keys()) if (owner.startsWith(prefix)) return owner
    return ''
  }

  #drop(owner: string): void {
    if (!this.#entries.delete(owner)) return
    const [organization_id = ''] = owner.split(' ', 1)
    const left = (this.#held_of.get(organization_id) ?? 0) - 1
    if (left <= 0) this.#held_of.delete(organization_id)
    else this.#held_of.set(organization_id, left)
  }

  #refresh(entry: Entry, order: TokenOrder, now_ms: number): TokenResult | Promise<TokenResult> {
    if (entry.fetching !== null) return entry.fetching
    if (entry.failure !== null && now_ms < entry.failure.until_ms)
      return { kind: 'failed', failure: entry.failure.failure }
    const ofOrganization = this.#under_way_of.get(order.organization_id) ?? 0
    if (this.#under_way >= FETCHES_MAX || ofOrganization >= FETCHES_OF_ORGANIZATION_MAX)
      return { kind: 'failed', failure: tokenFailure('busy') }
    this.#count(order, 1)
    entry.fetching = this.#fetch(entry, order, now_ms)
    return entry.fetching
  }

  #count({ organization_id }: TokenOrder, change: 1 | -1): void {
    this.#under_way += change
    const left = (this.#under_way_of.get(organization_id) ?? 0) + change
    if (left === 0) this.#under_way_of.delete(organization_id)
    else this.#under_way_of.set(organization_id, left)
  }

  async #fetch(entry: Entry, order: TokenOrder, started_ms: number): Promise<TokenResult> {
    const { answer, style } = await this.#parts.fetch(order, entry.style, entry.rejected)
    this.#count(order, -1)
    this.#fetched++
    entry.fetching = null
    if (answer.kind === 'failed') {
      this.#failed++
      const pause_ms = Math.min(PAUSE_MS * 2 ** entry.failures, PAUSE_LIMIT_MS)
      entry.failures++
      entry.failure = { failure: answer.failure, until_ms: this.#parts.nowMs() + pause_ms }
      this.#parts.onFailure(order, answer.failure)
      return answer
    }
    const { lifetime_s, age_ms = 0 } = answer
    // What was looked at again and is still the same is as old as it was.
    const same = entry.held?.token.equals(answer.token) === true ? entry.held : null
    const token = same?.token ?? answer.token
    const life_ms = lifetime_s * 1000
    const end_ms = started_ms - age_ms + life_ms
    entry.style = style
    entry.failure = null
    entry.failures = 0
    entry.rejected = null
    entry.held = {
      token,
      since_ms: same?.since_ms ?? this.#parts.nowMs(),
      refresh_from_ms: Math.min(
        end_ms - aheadOf(life_ms),
        'grant' in order.client ? started_ms + GRANT_LOOK_MS : Infinity,
      ),
      usable_until_ms: end_ms - marginOf(life_ms),
    }
    return { kind: 'token', token }
  }
}

const ownerOf = ({ organization_id, integration_id, connection_id, client }: TokenOrder): string =>
  `${organization_id} ${connection_id ?? integration_id} ${client.variant}`
