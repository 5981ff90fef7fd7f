import { comparePlaces } from '../../core/activity/log-place.ts'
import { REDIS_KEYS } from '../../core/redis/redis-keys.ts'
import type { RedisClient } from '../../core/redis/run-script.ts'
import { Slots } from './slots.ts'

/** How often the newest place of a log that somebody follows is looked at. */
const LOOK_INTERVAL_MS = 100
/** Streams of one process at a time; each costs a read of what is new. */
const FOLLOWERS_MAX = 200
const FOLLOWERS_OF_ONE_MAX = 50

interface Watched {
  followers: number
  newest: string
  readonly waiting: Set<() => void>
}

/** Tells those who follow a log that it has grown; one look serves all followers of an organization. */
export class ActivityFeed {
  readonly #redis: RedisClient
  readonly #watched = new Map<string, Watched>()
  readonly #stopped = new AbortController()
  readonly #slots = new Slots(FOLLOWERS_MAX, FOLLOWERS_OF_ONE_MAX)
  #timer: NodeJS.Timeout | null = null

  constructor(redis: RedisClient) {
    this.#redis = redis
  }

  /** Aborted when the service stops: every stream ends then. */
  get stopped(): AbortSignal {
    return this.#stopped.signal
  }

  get followers(): number {
    return this.#slots.count
  }

  /** Null when there are too many followers already. `changed` resolves when the log has more than up to a place. */
  follow(
    organization_id: string,
  ): { readonly changed: (place: string) => Promise<void>; readonly leave: () => void } | null {
    const leave = this.stopped.aborted ? null : this.#slots.take(organization_id)
    if (leave === null) return null
    const watched = this.#watched.get(organization_id) ?? {
      followers: 0,
      newest: '',
      waiting: new Set(),
    }
    this.#watched.set(organization_id, watched)
    watched.followers++
    this.#timer ??= setInterval(() => void this.#look(), LOOK_INTERVAL_MS)
    return {
      changed: (place) =>
        watched.newest !== '' && comparePlaces(watched.newest, place) > 0
          ? Promise.resolve()
          : new Promise((resolve) => watched.waiting.add(resolve)),
      leave: () => {
        leave()
        if (--watched.followers === 0) this.#watched.delete(organization_id)
        if (this.followers > 0 || this.#timer === null) return
        clearInterval(this.#timer)
        this.#timer = null
      },
    }
  }

  stop(): void {
    this.#stopped.abort(new Error('the admin service is stopping'))
    if (this.#timer !== null) clearInterval(this.#timer)
    for (const { waiting } of this.#watched.values()) wake(waiting)
  }

  async #look(): Promise<void> {
    await Promise.allSettled(
      [...this.#watched].map(async ([organization_id, watched]) => {
        const [row] = await this.#redis.xrevrange(
          REDIS_KEYS.activity(organization_id),
          '+',
          '-',
          'COUNT',
          1,
        )
        const newest = row?.[0] ?? ''
        if (newest === watched.newest) return
        watched.newest = newest
        wake(watched.waiting)
      }),
    )
  }
}

function wake(waiting: Set<() => void>): void {
  const told = [...waiting]
  waiting.clear()
  for (const tell of told) tell()
}
