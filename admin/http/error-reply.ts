import { Type } from 'typebox'
import { ADMIN_ERRORS } from './admin-errors.ts'
import type { Refusal } from './outcome.ts'

/** The body of every refusal. */
export const ErrorSchema = Type.Object(
  {
    error: Type.String({
      description: 'Stable error code; repeated in the header X-Agw-Reason.',
    }),
    message: Type.String({ description: 'Description of the error and what to do next.' }),
    details: Type.Record(Type.String(), Type.Unknown()),
    request_id: Type.String(),
  },
  { additionalProperties: false },
)

export interface ErrorReply {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: Readonly<Record<string, unknown>>
}

export function errorReply(refusal: Refusal, request_id: string): ErrorReply {
  const { status, message } = ADMIN_ERRORS[refusal.error]
  return {
    status,
    headers: { 'x-agw-reason': refusal.error, ...refusal.headers },
    body: {
      error: refusal.error,
      message: refusal.message ?? message,
      details: refusal.details ?? {},
      request_id,
    },
  }
}
