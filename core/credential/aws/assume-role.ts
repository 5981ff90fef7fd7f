import { createHash } from 'node:crypto'
import { knownUrl } from '../../bounded/parse-url.ts'
import { Secret } from '../../keys/secret.ts'
import type { TokenClient } from '../token-client.ts'
import { hashOfText } from './canonical-request.ts'
import { type AwsCredential, signRequest } from './sign-request.ts'

export interface AwsRole {
  readonly role_arn: string
  readonly external_id?: string | undefined
  readonly session_policy?: string | undefined
  readonly sts_url?: string | undefined
}

/** Also the longest that a role assumed by a role may last. */
const DURATION_S = 3600
const FORM_TYPE = 'application/x-www-form-urlencoded'

/** Temporary keys of a role (STS AssumeRole); the session has the name of the agent, which CloudTrail shows. */
export function assumeRole(auth: AwsCredential, role: AwsRole, agent_id: string): TokenClient {
  const { role_arn, external_id, session_policy } = role
  const url = role.sts_url ?? `https://sts.${auth.region}.amazonaws.com/`
  const name = sessionName(agent_id)
  return {
    token_url: url,
    variant: name,
    agent_id,
    revocation_url: null,
    answer: 'sts',
    has_styles: false,
    request: async (_, { now_ms }) => {
      const form = new URLSearchParams({
        Action: 'AssumeRole',
        Version: '2011-06-15',
        RoleArn: role_arn,
        RoleSessionName: name,
        DurationSeconds: String(DURATION_S),
      })
      if (external_id !== undefined) form.set('ExternalId', external_id)
      if (session_policy !== undefined) form.set('Policy', session_policy)
      const body = form.toString()
      const { host, pathname, search } = knownUrl(url)
      const request = {
        method: 'POST',
        raw_path: pathname,
        raw_query: search === '' ? null : search.slice(1),
        headers: [
          { name: 'host', value: host },
          { name: 'content-type', value: FORM_TYPE },
        ],
        payload: hashOfText(body),
      }
      const signed = signRequest({ ...auth, service: 'sts' }, request, now_ms)
      const headers = Object.fromEntries(signed.map(({ name: key, value }) => [key, value]))
      return { headers: { ...headers, 'content-type': FORM_TYPE }, body }
    },
  }
}

/** The keys in the text of a token that ext-proc has read from the answer of STS. */
export function roleKeys(
  token: Secret,
): Pick<AwsCredential, 'access_key_id' | 'secret_access_key'> & { readonly session_token: Secret } {
  const [access_key_id = '', secret = '', session = ''] = token.reveal().split(' ')
  return {
    access_key_id,
    secret_access_key: new Secret(secret),
    session_token: new Secret(session),
  }
}

const NAME_LENGTH_MAX = 64
const NOT_IN_NAME = /[^\w+=,.@-]/g
const HASH_LENGTH = 16

/** An id that cannot be a session name is shortened, and ends in its hash, so that no two agents have one name. */
function sessionName(agent_id: string): string {
  const plain = agent_id.replaceAll(NOT_IN_NAME, '-')
  if (plain === agent_id && plain.length <= NAME_LENGTH_MAX && plain.length > 1) return plain
  const hash = createHash('sha256').update(agent_id).digest('hex').slice(0, HASH_LENGTH)
  return `${plain.slice(0, NAME_LENGTH_MAX - HASH_LENGTH - 1)}-${hash}`
}
