import type { Environment } from '../../core/settings/settings.ts'
import { readLogin } from './login-file.ts'

/** Address and token of the admin API, for commands that use it. */
export interface AdminOptions {
  readonly url?: string
  readonly token?: string
  readonly output?: string
}

export interface AdminAccess {
  /** Without a slash at its end. */
  readonly url: string
  /** Null without one. */
  readonly token: string | null
}

const DEFAULT_URL = 'http://127.0.0.1:8081'

/**
 * The options, else the environment, else what `agw login` has kept. A kept token is used only with the address it was
 * kept for.
 * @throws with a message for the operator when the login file is needed and cannot be used
 */
export function adminAccess(options: AdminOptions, env: Environment = process.env): AdminAccess {
  const url = options.url ?? (env['AGW_URL'] || null)
  const token = options.token ?? (env['AGW_TOKEN'] || null)
  const login = url === null || token === null ? readLogin(env) : null
  const address = trimmed(url ?? login?.url ?? DEFAULT_URL)
  return { url: address, token: token ?? (login?.url === address ? login.token : null) }
}

const trimmed = (url: string): string => url.replace(/\/+$/, '')

export const TOKEN_REQUIRED =
  'An admin token is required: use --token, set AGW_TOKEN, or run agw login.'
