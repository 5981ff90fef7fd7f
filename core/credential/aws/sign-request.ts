import { createHmac } from 'node:crypto'
import type { Secret } from '../../keys/secret.ts'
import type { FilledPair, SignableRequest } from '../credential-type.ts'
import { canonicalRequest, hashOfText } from './canonical-request.ts'

export interface AwsCredential {
  readonly access_key_id: string
  readonly secret_access_key: Secret
  readonly session_token?: Secret
  readonly region: string
  readonly service: string
}

const ALGORITHM = 'AWS4-HMAC-SHA256'

/**
 * Signs a request by AWS Signature Version 4. `request.headers` contains `host` and the caller's headers that are signed; the
 * date, the payload hash and the session token are added.
 * @returns the headers to set
 */
export function signRequest(
  auth: AwsCredential,
  request: SignableRequest,
  now_ms: number,
): readonly FilledPair[] {
  const { access_key_id, secret_access_key, session_token, region, service } = auth
  // 2015-08-30T12:36:00.000Z becomes 20150830T123600Z.
  const time = `${new Date(now_ms).toISOString().slice(0, 19).replace(/[-:]/g, '')}Z`
  const date = time.slice(0, 8)
  const own: FilledPair[] = [
    { name: 'x-amz-content-sha256', value: request.payload },
    { name: 'x-amz-date', value: time },
  ]
  if (session_token !== undefined)
    own.push({ name: 'x-amz-security-token', value: session_token.reveal() })
  const signable = { ...request, headers: [...request.headers, ...own] }
  const { text, signed_headers } = canonicalRequest(signable, service)
  const place = `${date}/${region}/${service}/aws4_request`
  const steps = [date, region, service, 'aws4_request']
  const key = steps.reduce<string | Buffer>(hmac, `AWS4${secret_access_key.reveal()}`)
  const signature = hmac(key, [ALGORITHM, time, place, hashOfText(text)].join('\n')).toString('hex')
  const named = `Credential=${access_key_id}/${place}, SignedHeaders=${signed_headers}`
  const value = `${ALGORITHM} ${named}, Signature=${signature}`
  return [{ name: 'authorization', value }, ...own]
}

const hmac = (key: string | Buffer, text: string): Buffer =>
  createHmac('sha256', key).update(text).digest()
