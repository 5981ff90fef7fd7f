import { loadAuthority } from '../../core/certificate/load-authority.ts'
import type { Authority } from '../../core/certificate/open-authority.ts'

/** The CA that certificates are issued with, read when it is first needed. */
export interface KeptAuthority {
  /** @throws (rejects) while there is none; it is read again then, since the admin service makes it at its first start */
  readonly current: () => Promise<Authority>
  /**
   * Reads it again and uses it from now on if it is another one: that of changed files, or a new one in the store.
   * @throws (rejects) when it cannot be used, as while files are being replaced; the one before is used on
   */
  readonly isReplaced: () => Promise<boolean>
  /** It is read again when it is next needed; the one before is not used any more. */
  readonly forget: () => void
  /** Of the one in use; null while there is none. */
  readonly fingerprint: () => string | null
}

export function keptAuthority(...source: Parameters<typeof loadAuthority>): KeptAuthority {
  let reading: Promise<Authority> | null = null
  let fingerprint: string | null = null
  const read = async (): Promise<Authority> => {
    const authority = await loadAuthority(...source)
    if (authority === null) throw new Error('the store has no CA for the forward proxy yet')
    return authority
  }
  return {
    current: () => {
      if (reading !== null) return reading
      const begun = read()
      reading = begun
      begun.then(
        (authority) => {
          if (reading === begun) fingerprint = authority.fingerprint
        },
        () => {
          if (reading === begun) reading = null
        },
      )
      return begun
    },
    forget: () => {
      reading = null
      fingerprint = null
    },
    fingerprint: () => fingerprint,
    isReplaced: async () => {
      if (reading === null) return false
      const known = reading
      const [before, now] = await Promise.all([known, read()])
      // Another one is read already, or will be.
      if (before.certificate === now.certificate || reading !== known) return false
      reading = Promise.resolve(now)
      fingerprint = now.fingerprint
      return true
    },
  }
}
