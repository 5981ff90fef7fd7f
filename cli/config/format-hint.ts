import { proposedFormat } from '../../core/catalogue/error-formats.ts'
import type { Json } from './section-resources.ts'

/** The format of refusals is never set silently: it changes what agents receive. Null without a proposal. */
export function formatHint({ base_url, error_format }: Json): string | null {
  const proposed = error_format === undefined ? proposedFormat(String(base_url)) : null
  return proposed === null
    ? null
    : `with "error_format": "${proposed}" the SDKs of this API show why a call was refused; only the body of refusals changes. "gateway" keeps the present one.`
}
