import { findCredentialType, type SealedAuth } from './catalogue.ts'
import type { Scheme } from './credential-type.ts'

/** What a stored credential asks of a call besides being applied; known before it is opened. */
export interface CredentialUse {
  /** Whether the request body must be held for it. */
  holdsBody(scheme: Scheme): boolean
  /** Whether it may come back in the response headers, or the response may say that it is not accepted. */
  readonly looks_at_response: boolean
}

export function credentialUse(auth: SealedAuth): CredentialUse {
  const application = findCredentialType(auth.type)?.application
  return {
    holdsBody: (scheme) => application?.kind === 'signature' && application.holdsBody(auth, scheme),
    looks_at_response:
      application?.kind === 'token' ||
      (application?.kind === 'plain' && application.echoed !== undefined),
  }
}
