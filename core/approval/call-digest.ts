import type { AskingRule } from '../decision/needed-approval.ts'
import type { Connection, Integration, Scope } from '../catalogue/model.ts'
import type { Header } from '../request/header.ts'
import { multipartParts, sha256 } from './multipart-parts.ts'
import { countedValue } from './volatile-headers.ts'

/** A call as it is sent to the API, without its credential. Texts have one character for each byte. */
export interface DigestedCall {
  readonly agent_id: string
  /** `policyHash`. */
  readonly policy_sha256: string
  readonly integration_id: string
  /** `recordHash`. */
  readonly integration_sha256: string
  /** `connectionText`; null: the integration's own credential. */
  readonly connection: string | null
  readonly method: string
  /** With its query. */
  readonly url: string
  readonly headers: readonly Header[]
  /** Empty if there is none. */
  readonly body: Buffer
  /** Of a message to an MCP server: what counts of the body. Null: all of it. */
  readonly counted: Buffer | null
}

export interface CallDigest {
  readonly digest: string
  /** Of the body as it is sent, in hex. */
  readonly body_sha256: string
}

const FORM = 'agw-call-1'
const GRANT_FORM = 'agw-grant-1'
const ACCESS_FORM = 'agw-access-1'

/**
 * What an approval is for: two calls have the same digest only if the API receives the same, but for volatile headers, the order of
 * headers with different names and the boundary of a multipart body. docs/guides/approvals.md describes it for other programs.
 */
export function callDigest(call: DigestedCall): CallDigest {
  const { headers, body, counted: message } = call
  const multipart = multipartParts(headers, body)
  const body_sha256 = sha256(body)
  const counted = countedHeaders(headers).map(({ name, value }) => [
    name,
    name === 'content-type' && multipart !== null ? multipart.content_type : value,
  ])
  const text = JSON.stringify([
    FORM,
    call.agent_id,
    call.policy_sha256,
    call.integration_id,
    call.integration_sha256,
    call.connection,
    call.method,
    call.url,
    counted,
    message !== null
      ? ['json-rpc', sha256(message)]
      : multipart === null
        ? ['bytes', body_sha256]
        : ['multipart', multipart.parts],
  ])
  return { digest: `sha256:${sha256(text)}`, body_sha256 }
}

/** What a grant is for: all calls of the agent by these rules, to this host of the integration and with this credential. */
export const grantDigest = (
  call: Omit<DigestedCall, 'method' | 'url' | 'headers' | 'body' | 'counted'>,
  origin: string,
): string =>
  `sha256:${sha256(
    JSON.stringify([
      GRANT_FORM,
      call.agent_id,
      call.policy_sha256,
      call.integration_id,
      call.integration_sha256,
      call.connection,
      origin,
    ]),
  )}`

/** What a request for access is for. */
export const accessDigest = (agent_id: string, method: string, url: string): string =>
  `sha256:${sha256(JSON.stringify([ACCESS_FORM, agent_id, method, url]))}`

/** What the grant of a request for access is for: this host of the integration as it was when a person allowed it. */
export const accessGrantDigest = (
  request_id: string,
  agent_id: string,
  integration: Integration,
  origin: string,
): string =>
  `sha256:${sha256(
    JSON.stringify([
      GRANT_FORM,
      request_id,
      agent_id,
      integration.integration_id,
      recordHash(integration),
      origin,
    ]),
  )}`

/** In the order of their names. Several of one name keep their order. */
export const countedHeaders = (headers: readonly Header[]): readonly Header[] =>
  headers
    .flatMap((header) => {
      const value = header.name.startsWith(':') ? null : countedValue(header)
      return value === null ? [] : [{ name: header.name, value }]
    })
    .sort((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0))

/** Of the scope that governs a call and of the rules that ask for its approval: any change of one of them voids approvals. */
export const policyHash = (scope: Scope, by: readonly AskingRule[]): string =>
  sha256(JSON.stringify([recordHash(scope), by.map((one) => [recordHash(one.scope), one.rule])]))

/** Of whose account a call uses: any change of it voids approvals. */
export const connectionText = (connection: Connection | null): string | null =>
  connection === null ? null : `${connection.connection_id} ${recordHash(connection)}`

const hashes = new WeakMap<object, string>()

/** Of a stored record, whatever the order of its members. */
export function recordHash(record: Scope | Integration | Connection): string {
  const known = hashes.get(record)
  if (known !== undefined) return known
  const hash = sha256(JSON.stringify(record, inOrder))
  hashes.set(record, hash)
  return hash
}

const inOrder = (_name: string, value: unknown): unknown =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
    ? Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)))
    : value
