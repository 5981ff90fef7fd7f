import { mkdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { dirname, join } from 'node:path'
import type { Environment } from '../../core/settings/settings.ts'

/** What `agw login` keeps: a token, and the only address that it is sent to. */
export interface Login {
  readonly url: string
  readonly token: string
}

/** In the configuration folder of the user, as the XDG base directory specification places it. */
export const loginFile = (env: Environment): string =>
  join(env['XDG_CONFIG_HOME'] || join(env['HOME'] || homedir(), '.config'), 'agw', 'login.json')

/**
 * @returns null if there is no login
 * @throws with a message for the operator when the file cannot be used
 */
export function readLogin(env: Environment): Login | null {
  const file = loginFile(env)
  const stat = statSync(file, { throwIfNoEntry: false })
  if (stat === undefined) return null
  if ((stat.mode & 0o077) !== 0)
    throw new Error(
      `${file} is accessible to other users. Run chmod 600 ${file}, or agw logout and agw login.`,
    )
  try {
    const { url, token } = JSON.parse(readFileSync(file, 'utf8')) as Partial<Login>
    if (typeof url === 'string' && typeof token === 'string') return { url, token }
  } catch {
    // Reported below, like a file with other content.
  }
  throw new Error(`${file} is not a login file. Run agw logout, then agw login.`)
}

/** Replaces the file as a whole, so that no reader sees half of it. */
export function writeLogin(env: Environment, login: Login): string {
  const file = loginFile(env)
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 })
  const next = `${file}.${process.pid}`
  writeFileSync(next, `${JSON.stringify(login)}\n`, { mode: 0o600, flag: 'wx' })
  renameSync(next, file)
  return file
}

/** @returns whether there was one */
export function removeLogin(env: Environment): boolean {
  const file = loginFile(env)
  if (statSync(file, { throwIfNoEntry: false }) === undefined) return false
  rmSync(file)
  return true
}
