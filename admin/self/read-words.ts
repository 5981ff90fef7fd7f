import { UNPRINTABLE } from '../../core/approval/excerpt.ts'
import { SCOPE_DEFAULTS } from '../../core/catalogue/model.ts'
import { DeferredSettings } from '../../core/inspection/deferred-settings.ts'
import { maskSecrets } from '../../core/masking/mask-secrets.ts'
import { patternSettings } from '../../core/scanner/compile-settings.ts'
import { detectionsOf } from '../../core/scanner/detections-of.ts'
import type { AdminContext } from '../context/admin-context.ts'
import type { AskingAgent } from './agent-of-key.ts'

/** What an agent says to those who decide, as it is stored. */
export interface SaidWords {
  /** With secrets masked. */
  readonly justification: string
  /** JustificationFinding[] as JSON; `null` if the scanner was busy. */
  readonly justification_findings: string
}

const JUSTIFICATION_LENGTH = 1_000
const FINDINGS_MAX = 5
export const JUSTIFICATION_MESSAGE = `justification must be a text of at most ${JUSTIFICATION_LENGTH} characters; with request_id, for a request of yours that is pending and has none.`

/** Scanned as data: a finding is shown beside the words, and stops nothing. Null if it is no text of the allowed length. */
export async function readWords(
  { scans }: Pick<AdminContext, 'scans'>,
  { organization_id, policy }: AskingAgent,
  words: unknown,
): Promise<SaidWords | null> {
  if (typeof words !== 'string' || words.length > JUSTIFICATION_LENGTH) return null
  const justification = maskSecrets(words).replaceAll(UNPRINTABLE, '\uFFFD').trim()
  if (justification === '') return null
  const settings = SCOPE_DEFAULTS.injection_detection
  const input = {
    body: Buffer.from(words),
    content_type: 'text/plain',
    content_encoding: null,
    method: null,
    base_path: '',
    path: '',
    query: '',
    headers: [],
  }
  const owner = { organization_id, agent_id: policy.agent.agent_id, isGone: () => false }
  const deferred = new DeferredSettings(patternSettings(settings))
  const scanning = Promise.resolve(scans?.scanRequest(input, deferred, undefined, owner))
  const scanned = await scanning.catch(() => undefined)
  const found =
    scanned?.kind !== 'scanned'
      ? null
      : detectionsOf(scanned.findings, settings)
          .filter(({ action }) => action !== 'log')
          .map(({ pattern_name, category, severity }) => ({ pattern_name, category, severity }))
          .filter(
            ({ pattern_name }, i, all) =>
              i === all.findIndex((one) => one.pattern_name === pattern_name),
          )
          .slice(0, FINDINGS_MAX)
  return { justification, justification_findings: JSON.stringify(found) }
}
