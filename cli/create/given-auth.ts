import { CREDENTIAL_TYPES, findCredentialType } from '../../core/credential/catalogue.ts'
import type { Environment } from '../../core/settings/settings.ts'
import { fillReferences } from '../config/fill-references.ts'
import type { Json } from '../config/section-resources.ts'
import { askSecrets, type Terminal } from '../terminal/ask.ts'
import { UsageError } from '../terminal/usage-error.ts'

export interface AuthOptions {
  /** A credential type. */
  readonly auth?: string
  readonly authMember?: Readonly<Record<string, string>>
}

export const AUTH_TYPES: readonly string[] = CREDENTIAL_TYPES.map(({ type }) => type)

/**
 * The credential that the options describe. Secrets are references to the environment, as in the file of `agw apply`, since a
 * command line is visible to other users; those that are missing are asked for.
 * @returns undefined without a type
 * @throws with a message for the operator
 */
export async function givenAuth(
  { auth, authMember: given = {} }: AuthOptions,
  env: Environment,
  terminal: Pick<Terminal, 'stdin' | 'stderr'>,
): Promise<Json | undefined> {
  const members = Object.entries(findCredentialType(auth)?.members ?? {})
  const unknown = Object.keys(given).find((name) => !members.some(([known]) => known === name))
  if (unknown !== undefined)
    throw new UsageError(
      `--auth-member ${unknown}: ${auth === undefined ? 'needs --auth' : `${auth} has ${members.map(([name]) => name).join(', ') || 'no members'}`}`,
    )
  if (auth === undefined) return undefined
  const filled: Record<string, string> = {}
  for (const [name, { visibility }] of members) {
    const value = given[name]
    if (value === undefined) continue
    const result = visibility === 'secret' ? fillReferences(value, env) : null
    if (result?.ok === false) throw new UsageError(`--auth-member ${name} ${result.message}`)
    filled[name] = result?.text ?? value
  }
  const missing = members.filter(
    ([name, one]) => one.presence === 'required' && filled[name] === undefined,
  )
  const shown = missing.find(([, one]) => one.visibility !== 'secret')
  if (shown !== undefined)
    throw new UsageError(`--auth ${auth} needs --auth-member ${shown[0]}=VALUE`)
  const asked = missing.map(([name]) => name)
  const answers = await askSecrets(asked, terminal)
  return {
    type: auth,
    ...filled,
    ...Object.fromEntries(asked.map((name, i) => [name, answers[i]])),
  }
}
