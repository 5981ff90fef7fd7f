import type { TokenClient } from '../credential/token-client.ts'
import {
  noToken,
  readObject,
  readTokenAnswer,
  type TokenAnswer,
  usableToken,
} from './read-token-answer.ts'

/** Parses the response to the request of a credential for a token. */
export function readAnswer(
  form: TokenClient['answer'],
  status: number,
  body: Buffer,
  now_ms: number,
): TokenAnswer {
  if (form === 'oauth') return readTokenAnswer(status, body)
  if (status >= 300 && status < 400) return noToken('redirect_refused', status)
  return form === 'github' ? readGithub(status, body, now_ms) : readSts(status, body, now_ms)
}

/** An installation token: 201, with the time at which it ends. */
function readGithub(status: number, body: Buffer, now_ms: number): TokenAnswer {
  if (status !== 201) return noToken('refused', status)
  const { token, expires_at } = readObject(body) ?? {}
  if (typeof token !== 'string' || typeof expires_at !== 'string')
    return noToken('unreadable_answer', status)
  return usableToken(status, [token], (Date.parse(expires_at) - now_ms) / 1000)
}

/** The answer to AssumeRole, in XML: key id, key and session token. */
function readSts(status: number, body: Buffer, now_ms: number): TokenAnswer {
  if (status !== 200) return noToken('refused', status)
  const text = body.toString('utf8')
  const [expiration, ...keys] = STS_MEMBERS.map((member) => member.exec(text)?.[1]?.trim())
  const found = keys.filter((key) => key !== undefined)
  if (expiration === undefined || found.length < keys.length)
    return noToken('unreadable_answer', status)
  return usableToken(status, found, (Date.parse(expiration) - now_ms) / 1000)
}

const STS_MEMBERS = ['Expiration', 'AccessKeyId', 'SecretAccessKey', 'SessionToken'].map(
  (name) => new RegExp(`<${name}>([^<]*)</${name}>`),
)
