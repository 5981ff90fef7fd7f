import { parseReference } from '../credential/secret-reference.ts'
import { readAwsSecret } from './read-aws-secret.ts'
import { readReferencedFile } from './read-referenced-file.ts'
import { readVault } from './read-vault.ts'
import type { SecretStores } from './secret-stores.ts'

/** From the connection to the last byte. */
const REQUEST_LIMIT_MS = 5_000

/**
 * The value that a reference names. Null if there is none.
 * @param folder in which a file must be
 * @throws (rejects) if it cannot be read
 */
export async function readSecret(
  { env, egress, vault, aws }: SecretStores,
  ref: string,
  folder: string,
): Promise<string | null> {
  const parsed = parseReference(ref)
  if (parsed === null) return null
  const deadline = AbortSignal.timeout(REQUEST_LIMIT_MS)
  switch (parsed.kind) {
    case 'env':
      return env[parsed.name] ?? null
    case 'file':
      return await readReferencedFile(folder, parsed.name)
    case 'vault':
      return vault === null ? null : await readVault(egress, vault, parsed, deadline)
    case 'aws-sm':
      return aws === null ? null : await readAwsSecret(egress, aws, parsed, deadline)
  }
}
