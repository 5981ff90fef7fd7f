import { generateKeyPairSync } from 'node:crypto'
import type { CredentialType } from '../../core/credential/credential-type.ts'
import type { TextKind } from '../../core/credential/member.ts'

const TEXTS: Readonly<Record<Exclude<TextKind, 'url'>, string>> = {
  header_value: 'value',
  header_name: 'X-Api-Key',
  parameter_name: 'key',
  text: 'somebody',
  user_name: 'somebody',
  word: 'execute-api',
  template: '{method} {path_and_query} {timestamp}',
  private_key: '',
}

/** Of members whose kind does not say what they hold. */
const MEMBERS: Readonly<Record<string, string>> = {
  timestamp_header: 'X-Time',
  key_id_header: 'X-Key-Id',
  paths: '/bot{agw:token}',
  value: '{signature}',
  refresh_reuse_s: '60',
  session_policy: '{"Version":"2012-10-17","Statement":[]}',
}

/** Members of a type that do not go together: a sample for each list, without these. */
const WITHOUT: Readonly<Record<string, readonly (readonly string[])[]>> = {
  oauth2_client_credentials: [['private_key'], ['client_secret']],
  oauth2_authorization_code: [['pushed_authorization_url', 'private_key']],
  aws_sigv4: [['role_arn', 'external_id', 'session_policy', 'sts_url'], ['session_token']],
}

/** A member that is not secret, with a value that the type takes. */
export function sampleText(member: string, { text, choices }: SampleMember, url: string): string {
  if (choices !== undefined) return choices.includes('sha256') ? 'sha256' : (choices[0] ?? '')
  return text === 'url' ? `${url}/token` : (MEMBERS[member] ?? TEXTS[text])
}
type SampleMember = CredentialType['members'][string]

/** Credentials of a type with all members that go together. `secretOf` makes the values of its secret members. */
export const sampleAuths = (
  { type, members }: CredentialType,
  url: string,
  secretOf: (member: string, declared: SampleMember) => string,
): Record<string, string>[] =>
  (WITHOUT[type] ?? [[]]).map((without) => ({
    type,
    ...Object.fromEntries(
      Object.entries(members)
        .filter(([member]) => !without.includes(member))
        .map(([member, declared]) => [
          member,
          declared.visibility === 'secret'
            ? secretOf(member, declared)
            : sampleText(member, declared, url),
        ]),
    ),
  }))

/** A key that signs by ES256, and a line of it that no other key has. */
export function samplePrivateKey(): { readonly pem: string; readonly line: string } {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const pem = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()
  return { pem, line: pem.split('\n')[2] ?? '' }
}
