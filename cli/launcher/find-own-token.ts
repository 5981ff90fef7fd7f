import { renameSync } from 'node:fs'
import { type Boot, mayShareStore } from './child-specs.ts'

/** Which admin token an operator of this start uses. */
export type OwnToken =
  /** Shown only by the start that has generated it. */
  | { readonly kind: 'new'; readonly token: string }
  | { readonly kind: 'known' }
  /** The store does not have the token of the data directory: it already had others. */
  | { readonly kind: 'not_used'; readonly was_kept: boolean }

/**
 * Asks the gateway, which is ready, whether it accepts the token of the data directory.
 * @param file of that token. A token of this start that is of no use is moved to `FILE-unused`: the admin service uses it if it is the
 * first to set up a store that was emptied
 */
export async function findOwnToken(boot: Boot, apiUrl: string, file: string): Promise<OwnToken> {
  const { adminToken: token, isNewToken } = boot.secrets
  if (mayShareStore(boot)) {
    const headers = { authorization: `Bearer ${token}` }
    const answer = await fetch(`${apiUrl}/admin/agents?limit=1`, { headers }).catch(() => null)
    await answer?.body?.cancel()
    if (answer?.status === 401) {
      if (isNewToken) renameSync(file, `${file}-unused`)
      return { kind: 'not_used', was_kept: !isNewToken }
    }
  }
  return isNewToken ? { kind: 'new', token } : { kind: 'known' }
}
