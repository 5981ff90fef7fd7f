import type { OwnedPlace } from './credential-type.ts'

/** The header that Bearer, Basic, access tokens and signatures fill. A caller's own value is never sent upstream. */
export const AUTHORIZATION: OwnedPlace = { kind: 'header', name: 'authorization' }
