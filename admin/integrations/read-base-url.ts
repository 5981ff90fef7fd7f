import { type BaseUrl, parseBaseUrl } from '../../core/policy/parse-base-url.ts'
import type { Issue } from '../http/outcome.ts'

/** The canonical base URL, or what is wrong with the text. */
export function readBaseUrl(
  text: string,
): { readonly ok: true; readonly base: BaseUrl } | { readonly ok: false; readonly issue: Issue } {
  const parsed = parseBaseUrl(text)
  if (parsed.ok) return parsed
  const why = parsed.reason.replaceAll('_', ' ')
  const issue = { path: '/base_url', message: `is no base URL that can be used: ${why}` }
  return { ok: false, issue }
}
