import { readFileSync } from 'node:fs'
import { join } from 'node:path'
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
export function givenAccess(options: AdminOptions, env: Environment): AdminAccess {
  const url = options.url ?? (env['AGW_URL'] || null)
  const token = options.token ?? (env['AGW_TOKEN'] || null)
  const login = url === null || token === null ? readLogin(env) : null
  const address = trimmed(url ?? login?.url ?? DEFAULT_URL)
  return { url: address, token: token ?? (login?.url === address ? login.token : null) }
}

/** The same, else the token of the gateway whose data directory this is, which is sent only to this machine. */
export function adminAccess(options: AdminOptions, env: Environment = process.env): AdminAccess {
  const { url, token } = givenAccess(options, env)
  return { url, token: token ?? (isThisMachine(url) ? ownToken(env['AGW_DATA_DIR']) : null) }
}

const isThisMachine = (url: string): boolean =>
  URL.canParse(url) && ['127.0.0.1', '[::1]', 'localhost'].includes(new URL(url).hostname)

/** The token that `agw start` has written into its data directory; null without one. */
export function ownToken(dataDir: string | undefined): string | null {
  try {
    return readFileSync(join(dataDir || '.agw', 'admin-token'), 'utf8').trim() || null
  } catch {
    return null
  }
}

const trimmed = (url: string): string => url.replace(/\/+$/, '')

export const TOKEN_REQUIRED =
  'An admin token is required: use --token, set AGW_TOKEN, run agw login, or run this in the directory of agw start.'
