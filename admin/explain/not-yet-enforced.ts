import type { Integration } from '../../core/model.ts'

/** Ways to sign in upstream that are validated and stored, and that nothing acts on yet. */
const AUTH_TYPES: readonly Integration['auth']['type'][] = ['aws_sigv4']

/** All settings of that kind, for the start log. */
export const NOT_YET_ENFORCED: readonly string[] = AUTH_TYPES.map((type) => `auth.${type}`)

/** Those that these integrations use. */
export const notYetEnforced = (integrations: readonly Integration[]): string[] =>
  AUTH_TYPES.filter((type) => integrations.some(({ auth }) => auth.type === type)).map(
    (type) => `auth.${type}`,
  )
