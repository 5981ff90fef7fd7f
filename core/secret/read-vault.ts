import { getDocument } from '../token/post-form.ts'
import type { Egress } from '../token/post-form.ts'

/** Of the deployment. */
export interface VaultAccess {
  /** AGW_VAULT_ADDR. */
  readonly url: string
  readonly namespace: string | null
  /** Read for each request, since an agent of Vault may renew it in its file. */
  readonly token: () => string | null
}

/**
 * One field of a secret of Vault or OpenBao: of the KV engine, version 2 (`MOUNT/data/PATH`) or 1 (`MOUNT/PATH`).
 * Null if there is none, or it cannot be read.
 */
export async function readVault(
  egress: Egress,
  { url, namespace, token }: VaultAccess,
  { name, field }: { readonly name: string; readonly field: string },
  deadline: AbortSignal,
): Promise<string | null> {
  const own = token()
  if (own === null) return null
  const answer = await getDocument(egress, `${url.replace(/\/+$/, '')}/v1/${name}`, deadline, {
    'x-vault-token': own,
    'x-vault-request': 'true',
    ...(namespace === null ? {} : { 'x-vault-namespace': namespace }),
  })
  if (answer.kind === 'failed' || answer.status !== 200) return null
  const { data } = JSON.parse(answer.body.toString('utf8')) as { readonly data?: unknown }
  const isVersioned = hasMember(data, 'data') && hasMember(data, 'metadata')
  return textIn(isVersioned ? data['data'] : data, field)
}

type Members<Name extends string> = Readonly<Record<Name, unknown>>

const hasMember = <Name extends string>(value: unknown, name: Name): value is Members<Name> =>
  typeof value === 'object' && value !== null && Object.hasOwn(value, name)

export function textIn(value: unknown, name: string): string | null {
  const text = hasMember(value, name) ? value[name] : null
  return typeof text === 'string' ? text : null
}
