import type { Writable } from 'node:stream'
import type { Environment } from '../../core/settings/settings.ts'
import { type AdminOptions, givenAccess } from '../deployment/admin-access.ts'
import { removeLogin, writeLogin } from '../deployment/login-file.ts'
import { callAdmin, messageOf } from '../deployment/call-admin.ts'
import { askSecrets, type Input } from '../terminal/ask.ts'
import { terminalText } from '../terminal/terminal-text.ts'

/**
 * `agw login`: checks a token, from `--token`, `AGW_TOKEN` or standard input, and keeps it for its address.
 * @returns the exit code: 0 it is kept, 1 it is not accepted
 * @throws with a message for the operator when the admin API does not answer
 */
export async function runLogin(
  options: AdminOptions,
  env: Environment,
  stdin: Input,
  stdout: Writable,
  stderr: Writable,
): Promise<number> {
  // Only the address; a token that was kept before is not used.
  const { url } = givenAccess({ ...options, token: '' }, env)
  const ask = async (): Promise<string> =>
    (await askSecrets([`Admin token for ${url}`], { stdin, stderr }))[0] ?? ''
  const token = options.token ?? (env['AGW_TOKEN'] || (await ask()))
  if (token === '') throw new Error('No token was given.')
  const answer = await callAdmin({ url, token }, 'GET', '/admin/whoami')
  if (answer.status !== 200) {
    stderr.write(`${messageOf(answer)}\n`)
    return 1
  }
  const { email, role, organization_id } = answer.body as Readonly<Record<string, string>>
  const file = writeLogin(env, { url, token })
  stdout.write(
    `${terminalText(`Logged in to ${url} as ${email}, role ${role}, ${organization_id}. Kept in ${file}.`)}\n`,
  )
  return 0
}

/** `agw logout`: removes what `agw login` has kept. */
export function runLogout(env: Environment, stdout: Writable): number {
  stdout.write(removeLogin(env) ? 'Logged out.\n' : 'There was no login.\n')
  return 0
}
