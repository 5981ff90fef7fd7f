import { isS3 } from './aws/canonical-request.ts'
import { signRequest } from './aws/sign-request.ts'
import { assumeRole, roleKeys } from './aws/assume-role.ts'
import { defineCredential, type Scheme } from './credential-type.ts'
import { optionalSecret, optionalShown, secret, shown } from './member.ts'

/** The body is in AWS chunks that are not signed; the signature covers this word instead of a hash. */
const UNSIGNED_CHUNKS = 'STREAMING-UNSIGNED-PAYLOAD-TRAILER'
/** The caller has signed each chunk of the body with a key that the API does not know. */
const SIGNED_CHUNKS = {
  kind: 'refused',
  content_encoding: 'aws-chunked',
  reason: 'signed_chunks',
} as const

/** S3 accepts unsigned bodies, which TLS must then protect, so they are streamed at any size. */
const mustHash = (service: string, scheme: Scheme): boolean =>
  !(isS3(service) && scheme === 'https')

const SIGNATURE_PARAMETERS: ReadonlySet<string> = new Set([
  'x-amz-algorithm',
  'x-amz-content-sha256',
  'x-amz-credential',
  'x-amz-date',
  'x-amz-expires',
  'x-amz-security-token',
  'x-amz-signature',
  'x-amz-signedheaders',
])

export const awsSigv4 = defineCredential({
  type: 'aws_sigv4',
  label: 'AWS Signature Version 4',
  sends: 'a signature, and the session token',
  members: {
    access_key_id: shown('word'),
    secret_access_key: secret('header_value'),
    session_token: optionalSecret('header_value'),
    region: shown('word'),
    service: shown('word'),
    role_arn: optionalShown('text'),
    external_id: optionalShown('text'),
    session_policy: optionalShown('template'),
    sts_url: optionalShown('url'),
  },
  check: ({ role_arn, external_id, session_policy, sts_url }) => {
    const isAlone =
      role_arn === undefined && (external_id ?? session_policy ?? sts_url) !== undefined
    if (isAlone) return { member: 'role_arn', message: 'is required with members of a role' }
    return session_policy === undefined || isPolicy(session_policy)
      ? null
      : { member: 'session_policy', message: 'must be a JSON object of at most 2048 characters' }
  },
  // An AWS client can be given a gateway key as its session token. `Authorization` is always searched for a key.
  owned: () => ({
    kind: 'header',
    name: 'x-amz-security-token',
    further: ['x-amz-content-sha256', 'x-amz-date'],
    replaced_parameters: SIGNATURE_PARAMETERS,
  }),
  application: {
    kind: 'signature',
    sent: 'session_token',
    exchange: {
      clientOf: (auth, { agent_id }) =>
        auth.role_arn === undefined
          ? null
          : assumeRole(auth, { ...auth, role_arn: auth.role_arn }, agent_id),
      signer: (auth, token) => ({ ...auth, ...roleKeys(token) }),
    },
    needsBody: ({ service }, scheme) => mustHash(service, scheme),
    payload: ({ service }, { scheme, headers, is_buffered }) => {
      const hashes = mustHash(service, scheme)
      const claimed = headers.find(({ name }) => name === 'x-amz-content-sha256')?.value.trim()
      if (claimed?.startsWith('STREAMING-'))
        return claimed === UNSIGNED_CHUNKS && !hashes
          ? { kind: 'literal', text: claimed }
          : SIGNED_CHUNKS
      return hashes || is_buffered
        ? { kind: 'hash' }
        : { kind: 'literal', text: 'UNSIGNED-PAYLOAD' }
    },
    // The caller's headers that AWS requires to be signed.
    signs: (name) => name.startsWith('x-amz-') || name === 'content-type',
    sign: signRequest,
  },
})

/** As STS takes one. */
const POLICY_LENGTH_MAX = 2048

function isPolicy(text: string): boolean {
  if (text.length > POLICY_LENGTH_MAX) return false
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null && !Array.isArray(value)
  } catch {
    return false
  }
}
