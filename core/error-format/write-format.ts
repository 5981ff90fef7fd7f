import type { Header } from '../request/header.ts'
import type { ErrorBody } from '../catalogue/reasons.ts'
import type { ErrorFormat } from '../catalogue/error-formats.ts'

/** What a format may depend on besides the error. */
export interface RefusedRequest {
  readonly status: number
  /** JSON text; null if unknown. */
  readonly json_rpc_id: string | null
  /** Which of the protocols of AWS the request speaks. */
  readonly aws: AwsProtocol
}

/** `s3`: an `Error` of its own as XML; `ec2` and `query`: XML in an envelope; `json`: all others. */
export type AwsProtocol = 's3' | 'ec2' | 'query' | 'json'

export interface WrittenError {
  readonly body: string
  /** Default: `application/json`. */
  readonly content_type?: string
  readonly headers?: readonly Header[]
}

/** The error body in the shape that the SDKs of an API read: the same code, message, details and request id. */
export type ErrorWriter = (error: ErrorBody, request: RefusedRequest) => WrittenError

/** How the refusals of one call are written. */
export interface ErrorShape {
  readonly format: ErrorFormat
  readonly aws: AwsProtocol
}
