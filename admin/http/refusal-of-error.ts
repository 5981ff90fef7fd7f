import { connectionProblem } from '../../core/redis/connection-problem.ts'
import { isStoreError } from '../../core/redis/is-store-error.ts'
import type { RedisClient } from '../../core/redis/run-script.ts'
import { NewerFormatError } from '../../core/store/stored-record.ts'
import { type Refusal, conflict } from './outcome.ts'

const NEWER_FORMAT =
  'A newer version has stored this resource, or one that this request concerns. Send the request to an admin service of that version, or upgrade this one.'

/** The parser also refuses members that change the prototype of an object, with the same error. */
export const INVALID_JSON =
  'The body is not valid JSON, or has a member "__proto__", or "prototype" in a member "constructor".'

/** Maps an error of the framework, parser or store to a refusal; null for a bug. */
export function refusalOfError(
  error: unknown,
  body_limit_bytes: number,
  redis: RedisClient,
): Refusal | null {
  if (error instanceof NewerFormatError) return conflict('newer_format', NEWER_FORMAT)
  if (!(error instanceof Error)) return null
  const { statusCode, code = '' } = error as { statusCode?: number; code?: string }
  if (code === 'FST_ERR_CTP_BODY_TOO_LARGE')
    return {
      kind: 'refusal',
      error: 'request_too_large',
      details: { limit_bytes: body_limit_bytes },
    }
  if (code === 'FST_ERR_CTP_INVALID_MEDIA_TYPE')
    return { kind: 'refusal', error: 'unsupported_media_type' }
  if (statusCode === 404 || code === 'FST_ERR_MAX_PARAM_LENGTH')
    return { kind: 'refusal', error: 'not_found' }
  if (statusCode !== undefined && statusCode >= 400 && statusCode < 500)
    return {
      kind: 'refusal',
      error: 'validation_failed',
      details: {
        issues: [
          {
            path: '',
            message:
              code === 'FST_ERR_CTP_INVALID_JSON_BODY' ? INVALID_JSON : error.message.slice(0, 200),
          },
        ],
      },
    }
  if (!isStoreError(error)) return null
  const cause = connectionProblem(redis, error)
  const message = `The store is unavailable: ${cause}. Then try again.`
  return { kind: 'refusal', error: 'gateway_unavailable', message, details: { cause } }
}
