import type { OwnedPlace } from './credential-type.ts'

/** What Bearer, Basic, access tokens and signatures fill. A caller's own never goes upstream in any case. */
export const AUTHORIZATION: OwnedPlace = { kind: 'header', name: 'authorization' }
