import { findCredentialType, type SealedAuth } from './catalogue.ts'
import type { Scheme } from './credential-type.ts'

/** Whether the request body must be buffered for a credential; known before it is opened. */
export function needsBody(auth: SealedAuth, scheme: Scheme): boolean {
  const application = findCredentialType(auth.type)?.application
  return application?.kind === 'signature' && application.needsBody(auth, scheme)
}
