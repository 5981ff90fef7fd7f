import type { FieldsThatMatter } from './fields-that-matter.ts'
import { type KeyRing, reseal, type SealBinding, seal, unseal } from '../keys/seal.ts'

/** What an approver sees of a call: secrets are masked, long texts cut. */
export interface Excerpt {
  /** Of the headers that count. */
  readonly headers: readonly (readonly [name: string, value: string])[]
  /** Null if there is no body or it is no text. */
  readonly body: string | null
  readonly is_cut: boolean
  /** Of a body that says what it has. Absent in excerpts of older versions. */
  readonly matters?: FieldsThatMatter | null
}

interface Owner {
  readonly organization_id: string
  readonly request_id: string
}

const bindingOf = ({ organization_id, request_id }: Owner): SealBinding => ({
  stored_as: 'access_excerpt',
  organization_id,
  owner_id: request_id,
  kind: 'access_request.excerpt',
  origin: '',
})

export const sealedExcerpt = {
  seal: (ring: KeyRing, owner: Owner, excerpt: Excerpt): string =>
    seal(ring, JSON.stringify(excerpt), bindingOf(owner)),

  /** Null if it does not open. */
  open: (ring: KeyRing, owner: Owner, sealed: string): Excerpt | null => {
    const opened = unseal(ring, sealed, bindingOf(owner))
    return opened === null ? null : (JSON.parse(opened.reveal()) as Excerpt)
  },

  reseal: (ring: KeyRing, owner: Owner, sealed: string): string | null =>
    reseal(ring, sealed, bindingOf(owner)),
} as const
