import { CREDENTIAL_TYPES, findCredentialType } from '../../core/credential/catalogue.ts'
import type { Environment } from '../../core/settings/settings.ts'
import { fillReferences } from '../config/fill-references.ts'
import type { Json } from '../config/section-resources.ts'
import { askSecrets, type Terminal } from '../terminal/ask.ts'

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
    throw new Error(
      `--auth-member ${unknown}: ${auth === undefined ? 'needs --auth' : `${auth} has ${members.map(([name]) => name).join(', ') || 'no members'}`}`,
    )
  if (auth === undefined) return undefined
  const filled: Record<string, string> = {}
  for (const [name, { visibility }] of members) {
    const value = given[name]
    if (value === undefined) continue
    const result = visibility === 'secret' ? fillReferences(value, env) : null
    if (result?.ok === false) throw new Error(`--auth-member ${name} ${result.message}`)
    filled[name] = result?.text ?? value
  }
  const asked = members
    .filter(([, one]) => one.presence === 'required' && one.visibility === 'secret')
    .map(([name]) => name)
    .filter((name) => filled[name] === undefined)
  const answers = await askSecrets(asked, terminal)
  return {
    type: auth,
    ...filled,
    ...Object.fromEntries(asked.map((name, i) => [name, answers[i]])),
  }
}
