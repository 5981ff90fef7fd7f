import type { BodyFacts } from '../../core/inspection/read-body.ts'
import { admitBody } from '../../core/decision/admit-body.ts'
import type { Admitted } from '../../core/decision/admission.ts'
import { isEmpty } from '../../core/request/overrides.ts'
import { deny, pass, type Step } from '../verdict/step.ts'

/** Methods and paths named in the body must be unambiguous, and allowed too. */
export function checkBodyOverrides(
  admitted: Admitted,
  { unread, overrides }: BodyFacts,
): Step<null> {
  switch (unread?.kind) {
    case 'unsupported_encoding': {
      const { content_encoding } = unread
      return deny('body', 'unsupported_content_encoding', { content_encoding })
    }
    case 'too_large':
      return deny('body', 'request_too_large', { limit_bytes: unread.limit_bytes })
    case undefined:
      break
  }
  if (isEmpty(overrides)) return pass(null)
  const refused = admitBody(admitted, overrides)
  return refused === null ? pass(null) : deny(refused.step, refused.reason, refused.details)
}
