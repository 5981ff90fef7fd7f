import { mintId } from '../api-key.ts'
import type { AlertCause } from './alert.ts'

const ABOUT_LIMIT = 500
const TITLE_LIMIT = 300

/** A cause as the scripts take it; `at` is when it happened. */
export const writeAlert = (cause: AlertCause, at: Date): Readonly<Record<string, unknown>> => ({
  alert_id: mintId('alt'),
  about: cause.about.slice(0, ABOUT_LIMIT),
  kind: cause.kind,
  severity: cause.severity,
  title: cause.title.slice(0, TITLE_LIMIT),
  at: at.toISOString(),
  at_ms: at.getTime(),
  is_mailed: cause.is_mailed === true,
  occurrence: JSON.stringify(cause.occurrence),
})
