import type { Form, FormAnswer } from '../../core/token/post-form.ts'
import { LIFE_MS } from './deployment.ts'
import type { Plan } from './plan.ts'
import type { SimProcess } from './sim-process.ts'
import type { ProviderFault } from './subject.ts'
import type { World } from './world.ts'

export interface IssuedTokens {
  readonly access_token: string
  readonly refresh_token: string
}

/** Until a client gives up waiting, as in `core/oauth/refresh-grant.ts`. */
const SILENCE_MS = 10_000
const NORMAL_MS = [1, 30] as const
const SLOW_MS = [100, 2_500] as const

/**
 * An OAuth provider that replaces the refresh token with each use, and the way to it. A token that is used again ends the grant, unless
 * that is within the time in which the provider takes it.
 */
export class SimProvider {
  readonly #world: World
  readonly #plan: Plan['provider']
  fault: ProviderFault | null = null
  /** The refresh token that it takes; null: the grant has ended. */
  current: string | null = null
  #number = 0
  /** Of each refresh token, the number of the consent. */
  readonly #familyOf = new Map<string, number>()
  #family = 0
  /** Refresh tokens that were used, with the times at which they came and were sent. */
  readonly #used = new Map<string, { readonly came_ms: number; readonly sent_ms: number }>()
  readonly #accessUntil = new Map<string, number>()
  requests = 0
  /** A refresh token came that was sent before, at that time. */
  onReuse: (refresh_token: string, sent_ms: number) => void = () => undefined

  constructor(world: World, plan: Plan['provider']) {
    this.#world = world
    this.#plan = plan
  }

  /** Refresh tokens of consents of which it is not known that they are stored. */
  readonly #open = new Set<string>()
  #hasOverlapped = false

  /** After a consent: the tokens of the grant before are dead. */
  consent(): IssuedTokens {
    this.#family++
    this.#hasOverlapped ||= this.#open.size > 0
    const issued = this.#issue()
    this.#open.add(issued.refresh_token)
    return issued
  }

  stored({ refresh_token }: IssuedTokens): void {
    this.#open.delete(refresh_token)
  }

  /** Two consents at the same time may be stored in another order than they were given in, and a process may end before it stores one. */
  get isConsentUnclear(): boolean {
    return this.#hasOverlapped || this.#open.size > 0
  }

  #issue(): IssuedTokens {
    const number = ++this.#number
    const issued = { access_token: `access-${number}`, refresh_token: `refresh-${number}` }
    this.current = issued.refresh_token
    this.#familyOf.set(issued.refresh_token, this.#family)
    this.#accessUntil.set(issued.access_token, this.#world.now_ms + LIFE_MS)
    return issued
  }

  /** How long an access token is still taken; negative if it is not any more, or never was. */
  leftOf(access_token: string): number {
    return (this.#accessUntil.get(access_token) ?? Number.NEGATIVE_INFINITY) - this.#world.now_ms
  }

  /** The network of a process to it. */
  networkOf(process: SimProcess): (url: string, form: Form | null) => Promise<FormAnswer> {
    const later = (ms: number): Promise<void> =>
      new Promise((resolve) => {
        this.#world.after(ms, resolve, process)
      })
    return async (url, form) => {
      await later(this.#delay())
      if (this.fault === 'away') return FAILED
      if (!((await form?.beforeSending?.()) ?? true)) return { kind: 'failed', cause: 'busy' }
      const lost = this.fault
      // The process may end, or stand, while the request is on its way.
      let answer: FormAnswer | null = null
      const [there_ms, back_ms] = [this.#delay(), this.#delay()]
      const sent_ms = this.#world.now_ms
      if (lost !== 'request')
        this.#world.after(there_ms, () => {
          answer = this.#answer(url, new URLSearchParams(form?.body), sent_ms)
        })
      await later(there_ms + back_ms)
      if (lost === 'silent') {
        await later(SILENCE_MS)
        return { kind: 'failed', cause: 'timeout' }
      }
      return lost === 'answer' ? FAILED : (answer ?? FAILED)
    }
  }

  #delay(): number {
    const [low_ms, high_ms] = this.fault === 'slow' ? SLOW_MS : NORMAL_MS
    return this.#world.random.between(low_ms, high_ms)
  }

  #answer(url: string, form: URLSearchParams, sent_ms: number): FormAnswer {
    if (url.endsWith('/introspect'))
      return answered(200, { active: form.get('token') === this.current })
    this.requests++
    const token = form.get('refresh_token') ?? ''
    this.#world.note(`the provider gets ${token}`)
    const used = this.#used.get(token)
    if (used !== undefined) this.onReuse(token, used.sent_ms)
    const isOfNow = this.#familyOf.get(token) === this.#family
    const isTakenAgain =
      isOfNow &&
      used !== undefined &&
      this.#world.now_ms < used.came_ms + this.#plan.reuse_s * 1_000
    if (this.current === null || (token !== this.current && !isTakenAgain)) {
      if (isOfNow) this.current = null
      return answered(400, { error: 'invalid_grant' })
    }
    if (used === undefined) this.#used.set(token, { came_ms: this.#world.now_ms, sent_ms })
    return answered(200, { ...this.#issue(), token_type: 'bearer', expires_in: LIFE_MS / 1_000 })
  }
}

const FAILED: FormAnswer = { kind: 'failed', cause: 'connection_failed' }

const answered = (status: number, body: object): FormAnswer => ({
  kind: 'answered',
  status,
  body: Buffer.from(JSON.stringify(body)),
})
