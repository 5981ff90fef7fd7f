import type { ByteEdit } from '../http-message/edit-bytes.ts'
import { findFormAgentId, findJsonAgentId } from './find-agent-id.ts'

/** What a body says of the agent. */
export type BodyIdentity =
  | { readonly kind: 'none' }
  | { readonly kind: 'ambiguous' }
  | {
      readonly kind: 'named'
      readonly agent_id: string
      /** What is cut out of the body; null where the integration keeps it. */
      readonly cut: readonly ByteEdit[] | null
    }

/** The same without what is to be cut. */
export type SaidIdentity =
  | { readonly kind: 'none' }
  | { readonly kind: 'ambiguous' }
  | { readonly kind: 'named'; readonly agent_id: string }

const FORM = 'application/x-www-form-urlencoded'

/** @param content_type the header's value */
const isUrlEncoded = (content_type: string): boolean =>
  content_type.length >= FORM.length && content_type.slice(0, FORM.length).toLowerCase() === FORM

/**
 * Reads a body that is not compressed. What a form does not name is looked for in JSON, whatever the type says:
 * clients send JSON under the type of a form, or under none.
 */
export function readBodyIdentity(
  body: Buffer,
  content_type: string,
  strips: boolean,
): BodyIdentity {
  const inForm = isUrlEncoded(content_type) ? findFormAgentId(body) : null
  const found = inForm === null || inForm.kind === 'none' ? findJsonAgentId(body) : inForm
  return found.kind === 'found'
    ? { kind: 'named', agent_id: found.agent_id, cut: strips ? found.cut : null }
    : found
}
