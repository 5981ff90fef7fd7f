import type { Integration, Scope } from '../../core/model.ts'

/** Settings that are validated and stored, and that nothing acts on yet, by what makes them matter. */
const SCOPE_SETTINGS: Readonly<Record<string, (scope: Scope) => boolean>> = {
  anomaly_detection: (scope) => scope.anomaly_detection.enabled,
}

const AUTH_TYPES: readonly Integration['auth']['type'][] = [
  'oauth2_client_credentials',
  'aws_sigv4',
]

/** All of them, for the start log. */
export const NOT_YET_ENFORCED: readonly string[] = [
  ...Object.keys(SCOPE_SETTINGS),
  ...AUTH_TYPES.map((type) => `auth.${type}`),
]

/** Those that these scopes and integrations use. */
export function notYetEnforced(
  scopes: readonly Scope[],
  integrations: readonly Integration[],
): string[] {
  const settings = Object.entries(SCOPE_SETTINGS)
    .filter(([, matters]) => scopes.some(matters))
    .map(([name]) => name)
  const types = AUTH_TYPES.filter((type) => integrations.some(({ auth }) => auth.type === type))
  return [...settings, ...types.map((type) => `auth.${type}`)]
}
