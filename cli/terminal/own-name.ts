import type { Environment } from '../../core/settings/settings.ts'

/** How the user has called this program: in a checkout, by npx. */
export const ownName = (env: Environment): string =>
  env['npm_command'] === 'exec' || env['npm_lifecycle_event'] === 'start' ? 'npx agw' : 'agw'
