import { hostOf } from '../catalogue/error-formats.ts'
import type { Integration } from '../catalogue/model.ts'
import type { Header } from '../request/header.ts'
import { awsProtocol } from './aws.ts'
import type { ErrorShape } from './write-format.ts'

/** How refusals of calls to this integration are written; null for the error body of the gateway. */
export function errorShapeOf(
  { error_format: format = 'gateway', base_url, auth }: Integration,
  headers: readonly Header[],
): ErrorShape | null {
  if (format === 'gateway') return null
  const { service = null } = auth as { readonly service?: string }
  const host = hostOf(base_url)
  return { format, aws: format === 'aws' ? awsProtocol(headers, { service, host }) : 'json' }
}
