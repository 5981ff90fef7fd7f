import { useContext, useState } from 'preact/hooks'
import { SessionContext } from './session.ts'

const PREFIX = 'agw_draft '

/** Unsaved changes, and the version of the resource that they were made to. */
interface Kept<T> {
  readonly base: string | null
  readonly value: T
}

export interface Draft<T> {
  readonly value: T
  readonly set: (value: T) => void
  readonly isChanged: boolean
  /** Whether the changes were made on an earlier visit of the page. */
  readonly isRestored: boolean
  /** Whether the stored resource has changed since the changes were begun. */
  readonly isOutdated: boolean
  /** Forgets the changes and returns to the stored value. */
  readonly discard: () => void
  /** Forgets the changes after they were saved. */
  readonly forget: () => void
}

/**
 * Changes to a resource that stay until they are saved or discarded: over a change of page, a reload and a session that ends. They
 * are kept in this tab only, for the operator who made them.
 */
export function useDraft<T extends object>(name: string, stored: T, base: string | null): Draft<T> {
  const who = useContext(SessionContext)
  const key = `${PREFIX}${who?.email ?? ''} ${name}`
  const [kept] = useState(() => read<T>(key))
  const [value, setValue] = useState<T>(kept?.value ?? stored)
  const [isRestored, setRestored] = useState(kept !== null)
  const isChanged = JSON.stringify(value) !== JSON.stringify(stored)
  const from = kept?.base ?? base
  const set = (next: T): void => {
    setValue(next)
    if (JSON.stringify(next) === JSON.stringify(stored)) sessionStorage.removeItem(key)
    else write(key, { base: from, value: next })
  }
  const forget = (): void => sessionStorage.removeItem(key)
  const discard = (): void => {
    forget()
    setValue(stored)
    setRestored(false)
  }
  return {
    value,
    set,
    isChanged,
    isRestored: isRestored && isChanged,
    isOutdated: isRestored && isChanged && from !== base,
    discard,
    forget,
  }
}

/** At sign-out. */
export function forgetDrafts(): void {
  for (const key of Object.keys(sessionStorage))
    if (key.startsWith(PREFIX)) sessionStorage.removeItem(key)
}

function read<T>(key: string): Kept<T> | null {
  try {
    return JSON.parse(sessionStorage.getItem(key) ?? 'null') as Kept<T> | null
  } catch {
    return null
  }
}

/** Storage may be full; then the changes last as long as the page. */
function write<T>(key: string, kept: Kept<T>): void {
  try {
    sessionStorage.setItem(key, JSON.stringify(kept))
  } catch {
    sessionStorage.removeItem(key)
  }
}
