import { isEmpty, type Overrides } from '../../core/request/overrides.ts'

/**
 * When Envoy may repeat a call once (routes in envoy/bootstrap.yaml): `reset` if no response came, `unsent` if the request
 * was not sent.
 */
export type Retry = 'reset' | 'unsent'

/** Methods whose repetition changes nothing (RFC 9110, section 9.2.2). TRACE never gets here. */
const IDEMPOTENT: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS', 'PUT', 'DELETE'])

/** Envoy keeps the body of a call that it may repeat, so a large one, or one of unknown length, is never repeated. */
const BODY_LIMIT_BYTES = 65_536

export interface RetriedCall {
  readonly method: string
  readonly has_body: boolean
  /** Null if the caller did not declare it. */
  readonly content_length: number | null
  readonly overrides: Overrides
  /** A person has allowed it once. */
  readonly is_once: boolean
}

/** Null: never. */
export function retryOf({
  method,
  has_body,
  content_length,
  overrides,
  is_once,
}: RetriedCall): Retry | null {
  if (has_body && (content_length === null || content_length > BODY_LIMIT_BYTES)) return null
  // An API that believes an override may read a GET as a POST.
  return IDEMPOTENT.has(method) && isEmpty(overrides) && !is_once ? 'reset' : 'unsent'
}
