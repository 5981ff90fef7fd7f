import type { Logger } from 'pino'
import { findCredentialType, type OpenedAuth } from '../../core/credential/catalogue.ts'
import {
  allowedBy,
  parseReference,
  SecretReference,
  type SecretRefs,
} from '../../core/credential/secret-reference.ts'
import { hasForm } from '../../core/credential/text-forms.ts'
import { Secret } from '../../core/keys/secret.ts'
import { readReferencedFile } from './read-referenced-file.ts'

/** A value is used for this long before it is read again. */
const FRESH_MS = 300_000
/** While it cannot be read, the last value is used for this long. */
const STALE_MS = 3_600_000
const RETRY_MS = 5_000
/** How long a call waits. A file system that hangs is waited for by no call after the first. */
const READ_LIMIT_MS = 2_000
/** Values in memory. */
const ENTRIES_MAX = 10_000
/** A read that hangs takes a thread from everything else that the process does, and there are four. */
const READS_MAX = 2

interface Entry {
  value: string | null
  read_ms: number
  tried_ms: number
  /** Until the read ends, even if no call waits for it. */
  isReading: boolean
  /** What calls wait for. */
  reading: Promise<void> | null
  isFailing: boolean
}

interface Parts {
  readonly refs: SecretRefs
  readonly env: Readonly<Record<string, string | undefined>>
  readonly nowMs: () => number
  readonly log: Pick<Logger, 'warn' | 'error'>
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
  readonly #waiting: (() => void)[] = []
  #reads = 0

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
      entries.push(this.#entryOf(ref, prefix))
    }
    const waits = entries.flatMap(({ reading }) => reading ?? [])
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
  #entryOf(ref: string, prefix: string): Entry {
    // Folders differ by organization, and a link may lead from one to the other.
    const key = `${prefix} ${ref}`
    let entry = this.#entries.get(key)
    const now_ms = this.#parts.nowMs()
    if (entry === undefined) {
      const [oldest] = this.#entries.keys()
      if (this.#entries.size >= ENTRIES_MAX && oldest !== undefined) this.#entries.delete(oldest)
      entry = {
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
      this.#start(entry, ref, prefix, now_ms)
    return entry
  }

  #start(entry: Entry, ref: string, prefix: string, now_ms: number): void {
    entry.tried_ms = now_ms
    entry.isReading = true
    const read = this.#read(ref, prefix)
      .catch(() => null)
      .then((value) => {
        entry.isReading = false
        entry.reading = null
        this.#note(entry, ref, value)
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
  #note(entry: Entry, ref: string, value: string | null): void {
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
    } else if (!entry.isFailing)
      this.#parts.log.warn(
        { ref, has_last_value: entry.value !== null },
        'a secret that a credential refers to cannot be read',
      )
    entry.isFailing = true
  }

  async #read(ref: string, prefix: string): Promise<string | null> {
    const parsed = parseReference(ref)
    if (parsed === null) return null
    if (parsed.kind === 'env') return this.#parts.env[parsed.name] ?? null
    if (this.#reads < READS_MAX) this.#reads++
    else await new Promise<void>((resolve) => void this.#waiting.push(resolve))
    try {
      return await readReferencedFile(prefix.slice('file:'.length, -1), parsed.name)
    } finally {
      const next = this.#waiting.shift()
      if (next === undefined) this.#reads--
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
