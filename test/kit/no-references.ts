import type { SecretParts } from '../../core/secret/open-for-use.ts'

/** For credentials whose secrets are all in the store. */
export const NO_REFERENCES: Pick<SecretParts, 'references'> = {
  references: { resolve: (_, auth) => auth },
}
