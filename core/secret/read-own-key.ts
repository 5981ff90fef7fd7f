import { dirname } from 'node:path'
import { parseReference } from '../credential/secret-reference.ts'
import { type Environment, readSettings } from '../settings/settings.ts'
import { readSecret } from './read-secret.ts'
import { secretStores } from './secret-stores.ts'

const NAME = 'AGW_ENCRYPTION_KEY'

/**
 * The environment with the value of AGW_ENCRYPTION_KEY, if that is a reference.
 * @throws (rejects) with a message for the operator if the value cannot be read
 */
export async function withOwnKey(env: Environment): Promise<Environment> {
  const ref = env[NAME]?.trim() ?? ''
  const parsed = parseReference(ref)
  if (parsed === null) return env
  const { [NAME]: _, ...others } = env
  const read = readSettings(others)
  if (!read.ok) throw new Error(read.problems.join('\n'))
  const stores = secretStores(read.settings, env)
  const folder = parsed.kind === 'file' ? dirname(parsed.name) : ''
  const value = await readSecret(stores, ref, folder).catch(() => null)
  if (value === null)
    throw new Error(`${NAME} is ${ref}, which has no value that this process can read.`)
  return { ...others, [NAME]: value.trim() }
}
