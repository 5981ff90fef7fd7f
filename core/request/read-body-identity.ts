import type { ByteEdit } from './edit-bytes.ts'
import { findFormAgentId, findJsonAgentId } from './find-agent-id.ts'

/** The agent named in a body. */
export type BodyIdentity =
  | { readonly kind: 'none' }
  | { readonly kind: 'ambiguous' }
  | {
      readonly kind: 'named'
      readonly agent_id: string
      /** What is removed from the body; null if the integration keeps it. */
      readonly cut: readonly ByteEdit[] | null
    }

/** The same without the removal. */
export type SaidIdentity =
  | { readonly kind: 'none' }
  | { readonly kind: 'ambiguous' }
  | { readonly kind: 'named'; readonly agent_id: string }

const FORM = 'application/x-www-form-urlencoded'

/** @param content_type the header's value */
const isUrlEncoded = (content_type: string): boolean =>
  content_type.length >= FORM.length && content_type.slice(0, FORM.length).toLowerCase() === FORM

/**
 * Reads an uncompressed body. If a form does not name the agent, the body is read as JSON, whatever its type: clients send JSON
 * with the type of a form, or without a type.
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
