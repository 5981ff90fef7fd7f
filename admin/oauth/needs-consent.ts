import { findCredentialType } from '../../core/credential/catalogue.ts'

/** Whether a connection with this credential is active only by consent at a provider. */
export const needsConsent = ({ type }: { readonly type: string }): boolean =>
  findCredentialType(type)?.application.kind === 'connection'
