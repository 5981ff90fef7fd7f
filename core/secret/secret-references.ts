import type { Logger } from 'pino'
import { findCredentialType, type OpenedAuth } from '../credential/catalogue.ts'
import { allowedBy, SecretReference, type SecretRefs } from '../credential/secret-reference.ts'
import { hasForm } from '../credential/text-forms.ts'
import { Secret } from '../keys/secret.ts'
import { readSecret } from './read-secret.ts'
import type { SecretStores } from './secret-stores.ts'

/** A value is used for this long before it is read again. */
const FRESH_MS = 300_000
/** While it cannot be read, the last value is used for this long. */
const STALE_MS = 3_600_000
const RETRY_MS = 5_000
/** How long a call waits. A file system that hangs is waited for by no call after the first. */
const READ_LIMIT_MS = 2_000
/** Values in memory. */
const ENTRIES_MAX = 10_000
/** A read of a file that hangs takes a thread from everything else that the process does, and there are four. */
const FILES_AT_ONCE_MAX = 2
/** Requests to secret stores, of one organization. */
const REQUESTS_AT_ONCE_MAX = 4

interface Entry {
  /** Behind a network. */
  readonly isRemote: boolean
  value: string | null
  read_ms: number
  tried_ms: number
  /** Until the read ends, even if no call waits for it. */
  isReading: boolean
  /** What calls wait for. */
  reading: Promise<void> | null
  isFailing: boolean
}

/** What is read for whom. */
interface Place {
  readonly organization_id: string
  readonly ref: string
  readonly prefix: string
}

interface Parts {
  readonly refs: SecretRefs
  readonly stores: SecretStores
  readonly nowMs: () => number
  readonly log: Pick<Logger, 'warn' | 'error'>
  /** A value cannot be read any more; the last one is used until then. */
  readonly onStale: (organization_id: string, ref: string, ends: Date) => void
}

interface Resolved {
  readonly values: readonly string[]
  readonly auth: OpenedAuth | null
}

/** Reads the secrets of credentials that are kept elsewhere. The store has only their names. */
export class SecretReferences {
  readonly #parts: Parts
  readonly #entries = new Map<string, Entry>()
  readonly #named = new WeakMap<OpenedAuth, readonly (readonly [string, SecretReference])[]>()
  readonly #resolved = new WeakMap<OpenedAuth, Resolved>()
  readonly #lanes = new Map<string, { running: number; readonly waiting: (() => void)[] }>()

  constructor(parts: Parts) {
    this.#parts = parts
  }

  /** Null if a secret may not be named, cannot be read, or cannot be what it is used for. Never rejects. */
  resolve(
    organization_id: string,
    auth: OpenedAuth,
  ): OpenedAuth | null | Promise<OpenedAuth | null> {
    const named = this.#namedIn(auth)
    if (named.length === 0) return auth
    const entries: Entry[] = []
    for (const [, { ref }] of named) {
      const prefix = allowedBy(this.#parts.refs, organization_id, ref)
      if (prefix === null) return null
      entries.push(this.#entryOf(organization_id, ref, prefix))
    }
    const waits = entries.flatMap(({ reading, value, read_ms, isRemote }) => {
      // A request may be slow; meanwhile the last value is used.
      const isUsable = value !== null && this.#parts.nowMs() - read_ms <= STALE_MS
      return reading === null || (isRemote && isUsable) ? [] : reading
    })
    return waits.length === 0
      ? this.#use(auth, named, entries)
      : Promise.all(waits).then(() => this.#use(auth, named, entries))
  }

  #namedIn(auth: OpenedAuth): readonly (readonly [string, SecretReference])[] {
    const known = this.#named.get(auth)
    if (known !== undefined) return known
    const named = Object.entries(auth).flatMap(([member, value]) =>
      value instanceof SecretReference ? [[member, value] as const] : [],
    )
    this.#named.set(auth, named)
    return named
  }

  #use(
    auth: OpenedAuth,
    named: readonly (readonly [string, SecretReference])[],
    entries: readonly Entry[],
  ): OpenedAuth | null {
    const values: string[] = []
    for (const { value, read_ms } of entries) {
      if (value === null || this.#parts.nowMs() - read_ms > STALE_MS) return null
      values.push(value)
    }
    const known = this.#resolved.get(auth)
    if (known?.values.every((value, i) => value === values[i]) === true) return known.auth
    const resolved = withValues(
      auth,
      named.map(([member], i) => [member, values[i] ?? '']),
    )
    this.#resolved.set(auth, { values, auth: resolved })
    return resolved
  }

  /** The entry of a name, which is being read unless its value is fresh. */
  #entryOf(organization_id: string, ref: string, prefix: string): Entry {
    // Folders differ by organization, and a link may lead from one to the other.
    const key = `${organization_id} ${prefix} ${ref}`
    let entry = this.#entries.get(key)
    const now_ms = this.#parts.nowMs()
    if (entry === undefined) {
      const [oldest] = this.#entries.keys()
      if (this.#entries.size >= ENTRIES_MAX && oldest !== undefined) this.#entries.delete(oldest)
      entry = {
        isRemote: /^(?:vault|aws-sm):/.test(ref),
        value: null,
        read_ms: 0,
        tried_ms: Number.NEGATIVE_INFINITY,
        isReading: false,
        reading: null,
        isFailing: false,
      }
      this.#entries.set(key, entry)
    }
    const isFresh = entry.value !== null && now_ms - entry.read_ms < FRESH_MS
    if (!isFresh && !entry.isReading && now_ms - entry.tried_ms >= RETRY_MS)
      this.#start(entry, { organization_id, ref, prefix })
    return entry
  }

  #start(entry: Entry, place: Place): void {
    entry.tried_ms = this.#parts.nowMs()
    entry.isReading = true
    const read = this.#read(place)
      .catch(() => null)
      .then((value) => {
        entry.isReading = false
        entry.reading = null
        this.#note(entry, place, value)
      })
    let timer: NodeJS.Timeout | undefined
    const limit = new Promise<void>((resolve) => {
      timer = setTimeout(() => {
        entry.reading = null
        resolve()
      }, READ_LIMIT_MS)
    })
    entry.reading = Promise.race([read, limit]).finally(() => clearTimeout(timer))
  }

  /** One line when it begins to fail, and one when the last value is given up. */
  #note(entry: Entry, { organization_id, ref }: Place, value: string | null): void {
    const now_ms = this.#parts.nowMs()
    if (value !== null) {
      Object.assign(entry, { value, read_ms: now_ms, isFailing: false })
      return
    }
    const isTooOld = entry.value !== null && now_ms - entry.read_ms > STALE_MS
    if (isTooOld) {
      entry.value = null
      this.#parts.log.error(
        { ref },
        'a secret could not be read for an hour: its last value is no longer used',
      )
    } else if (!entry.isFailing) {
      const has_last_value = entry.value !== null
      this.#parts.log.warn(
        { ref, has_last_value },
        'a secret that a credential refers to cannot be read',
      )
      const left_ms = entry.read_ms + STALE_MS - now_ms
      if (has_last_value) this.#parts.onStale(organization_id, ref, new Date(Date.now() + left_ms))
    }
    entry.isFailing = true
  }

  /** One organization waits for its own requests alone. */
  async #read({ organization_id, ref, prefix }: Place): Promise<string | null> {
    if (ref.startsWith('env:')) return await readSecret(this.#parts.stores, ref, '')
    const isFile = ref.startsWith('file:')
    const name = isFile ? 'files' : organization_id
    const lane = this.#lanes.get(name) ?? { running: 0, waiting: [] }
    this.#lanes.set(name, lane)
    if (lane.running < (isFile ? FILES_AT_ONCE_MAX : REQUESTS_AT_ONCE_MAX)) lane.running++
    else await new Promise<void>((resolve) => void lane.waiting.push(resolve))
    try {
      return await readSecret(this.#parts.stores, ref, prefix.slice('file:'.length, -1))
    } finally {
      const next = lane.waiting.shift()
      if (next === undefined) lane.running--
      else next()
    }
  }
}

/** The credential with these values; null if one cannot be what it is used for. */
function withValues(
  auth: OpenedAuth,
  values: readonly (readonly [member: string, value: string])[],
): OpenedAuth | null {
  const declared = findCredentialType(auth.type)
  const isFit = ([member, value]: readonly [string, string]): boolean => {
    const one = declared?.members[member]
    return one?.visibility === 'secret' && hasForm(one, value)
  }
  if (!values.every(isFit)) return null
  const texts = { ...auth, ...Object.fromEntries(values) }
  // What a check says of a secret that is not text here was said of it when it was saved.
  if ((declared?.check?.(texts as never) ?? null) !== null) return null
  const secrets = values.map(([member, value]) => [member, new Secret(value)] as const)
  return { ...auth, ...Object.fromEntries(secrets) } as OpenedAuth
}
