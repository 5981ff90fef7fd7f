import type { SealedAuthority, StoredAuthority } from '../../core/certificate/stored-authority.ts'

/** The steps of a rotation, in their order; `replace` does without an overlap, for a key that is known to others. */
export const CA_STEPS = ['prepare', 'activate', 'finish', 'replace'] as const
export type CaStep = (typeof CA_STEPS)[number]

export type Rotated =
  | { readonly kind: 'rotated'; readonly stored: StoredAuthority; readonly is_reissued: boolean }
  | { readonly kind: 'refused'; readonly reason: CaRefusal }

export type CaRefusal = 'rotation_in_progress' | 'no_next_ca' | 'no_previous_ca'

/**
 * One step. Clients that fetched the certificates after `prepare` trust what is issued before and after `activate`, so none of their
 * calls fails.
 */
export function rotateAuthority(
  stored: StoredAuthority,
  step: CaStep,
  { make, since }: { readonly make: () => SealedAuthority; readonly since: string },
): Rotated {
  const { certificate, sealed_key, next, previous } = stored
  switch (step) {
    case 'prepare':
      return next !== undefined || previous !== undefined
        ? { kind: 'refused', reason: 'rotation_in_progress' }
        : {
            kind: 'rotated',
            stored: { certificate, sealed_key, next: make(), since },
            is_reissued: false,
          }
    case 'activate':
      return next === undefined
        ? { kind: 'refused', reason: 'no_next_ca' }
        : { kind: 'rotated', stored: { ...next, previous: certificate, since }, is_reissued: true }
    case 'finish':
      return previous === undefined
        ? { kind: 'refused', reason: 'no_previous_ca' }
        : { kind: 'rotated', stored: { certificate, sealed_key }, is_reissued: false }
    case 'replace':
      return { kind: 'rotated', stored: make(), is_reissued: true }
  }
}
