import { Secret } from '../keys/secret.ts'

/** What the secrets of each organization may name, by prefix (AGW_SECRET_REFS). */
export type SecretRefs = Readonly<Record<string, readonly string[]>>

/** A secret as a caller sends it and reads it back where the value itself is kept elsewhere. */
export interface GivenReference {
  readonly ref: string
}

/** The value is read when a call or a request to a provider needs it (core/secret/). */
export class SecretReference extends Secret {
  readonly ref: string

  constructor(ref: string) {
    super('')
    this.ref = ref
  }

  /** @throws since the value is elsewhere: `''` must never be sent in its place */
  override reveal(): never {
    throw new Error('a secret that is kept elsewhere was used before it was read')
  }
}

/** A setting, with the file that it can come from. */
const OWN_VARIABLE = /^AGW_SECRET_REFS(?:_FILE)?$/
const VARIABLE = /^AGW_SECRET_[A-Z0-9_]{1,200}$/
const VARIABLE_PREFIX = /^AGW_SECRET_[A-Z0-9_]{0,200}$/
export const REF_LENGTH_LIMIT = 1024
/** Files that the kernel makes up, among them the environment of each process. */
const KERNEL_FOLDERS = /^\/(?:proc|sys|dev)(?:\/|$)/

/** In the sealed text of a secret, where no secret itself can begin like this: none may have control characters. */
const MARK = '\0ref:'

export const sealedTextOf = ({ ref }: GivenReference): string => MARK + ref

export const isReferenceText = (text: string): boolean => text.startsWith(MARK)

export function openedSecret(secret: Secret): Secret {
  const text = secret.reveal()
  return isReferenceText(text) ? new SecretReference(text.slice(MARK.length)) : secret
}

export const isGivenReference = (value: unknown): value is GivenReference =>
  typeof value === 'object' && value !== null && 'ref' in value && typeof value.ref === 'string'

/** What the secrets of an opened credential name. */
export const referencesIn = (auth: object): string[] =>
  Object.values(auth).flatMap((value) => (value instanceof SecretReference ? [value.ref] : []))

/** A canonical absolute path, so that it begins with the folder that it is in. */
const isPath = (path: string): boolean =>
  path.startsWith('/') &&
  path.length <= REF_LENGTH_LIMIT &&
  !KERNEL_FOLDERS.test(path) &&
  // oxlint-disable-next-line no-control-regex -- control characters are what is refused
  !/[\u0000-\u001f\u007f]/.test(path) &&
  path
    .slice(1)
    .split('/')
    .every((segment) => segment !== '' && segment !== '.' && segment !== '..')

export type ParsedReference =
  | { readonly kind: 'env' | 'file'; readonly name: string }
  | { readonly kind: 'vault'; readonly name: string; readonly field: string }
  | { readonly kind: 'aws-sm'; readonly name: string; readonly field: string | null }

/** The path of a secret in a store: nothing that a server could read as another path. */
const STORE_PATH = /^[A-Za-z0-9_+=@-][A-Za-z0-9_.+=@-]*(?:\/[A-Za-z0-9_+=@-][A-Za-z0-9_.+=@-]*)*$/
const FIELD = /^[A-Za-z0-9_.-]{1,128}$/

/** `env:NAME`, `file:/PATH`, `vault:PATH#FIELD`, or `aws-sm:NAME` with or without `#FIELD`. */
export function parseReference(ref: string): ParsedReference | null {
  if (ref.length > REF_LENGTH_LIMIT) return null
  const [, kind, name = ''] = /^(env|file|vault|aws-sm):(.+)$/s.exec(ref) ?? []
  if (kind === 'env') return VARIABLE.test(name) && !OWN_VARIABLE.test(name) ? { kind, name } : null
  if (kind === 'file') return isPath(name) ? { kind, name } : null
  const [path = '', field = null, ...more] = name.split('#')
  if (!STORE_PATH.test(path) || more.length > 0) return null
  if (field !== null && !FIELD.test(field)) return null
  if (kind === 'vault') return field === null ? null : { kind, name: path, field }
  return kind === 'aws-sm' ? { kind, name: path, field } : null
}

/** What an operator of the deployment may allow: variables that begin alike, or what is in one folder. */
export function isReferencePrefix(prefix: string): boolean {
  const [, kind, name = ''] = /^(env|file|vault|aws-sm):(.+)$/s.exec(prefix) ?? []
  if (kind === 'env') return VARIABLE_PREFIX.test(name)
  if (!name.endsWith('/')) return false
  const folder = name.slice(0, -1)
  return kind === 'file' ? isPath(folder) : kind !== undefined && STORE_PATH.test(folder)
}

/** The prefix by which an organization may name this; null if it may not. */
export const allowedBy = (refs: SecretRefs, organization_id: string, ref: string): string | null =>
  parseReference(ref) === null || !Object.hasOwn(refs, organization_id)
    ? null
    : (refs[organization_id]?.find((prefix) => ref.startsWith(prefix)) ?? null)
