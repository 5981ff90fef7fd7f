import { mintId } from '../keys/api-key.ts'
import { type AlertCause, concernOf } from './alert.ts'

const ABOUT_LIMIT = 500
const TITLE_LIMIT = 300

/** The JSON parser of the scripts rejects unpaired surrogates, and truncation may leave one. */
const cut = (text: string, limit: number): string =>
  text.slice(0, limit).replaceAll(/\p{Surrogate}/gu, '\uFFFD')

/** A cause in the form that the scripts expect; `at` is when it happened. */
export const writeAlert = (cause: AlertCause, at: Date): Readonly<Record<string, unknown>> => ({
  alert_id: mintId('alt'),
  about: cut(cause.about, ABOUT_LIMIT),
  kind: cause.kind,
  concern: concernOf(cause.kind, cause.is_handled === true),
  severity: cause.severity,
  title: cut(cause.title, TITLE_LIMIT),
  count: cause.count ?? 1,
  at: at.toISOString(),
  at_ms: at.getTime(),
  is_mailed: cause.is_mailed === true,
  occurrence: JSON.stringify(cause.occurrence),
})
