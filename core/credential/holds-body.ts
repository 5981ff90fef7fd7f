import { findCredentialType, type SealedAuth } from './catalogue.ts'
import type { Scheme } from './credential-type.ts'

/** Whether the request body must be held for a credential; known before it is opened. */
export function holdsBody(auth: SealedAuth, scheme: Scheme): boolean {
  const application = findCredentialType(auth.type)?.application
  return application?.kind === 'signature' && application.holdsBody(auth, scheme)
}
