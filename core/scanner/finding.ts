import type { Speaker } from '../catalogue/model.ts'
import type { Category, Severity } from './categories.ts'

/** A detection in a request or response, ready for an event, an activity entry or a response of the admin API. */
export type Finding = {
  readonly pattern_name: string
  readonly category: Category
  readonly severity: Severity
  /** At most 200 characters of the text as it was sent, with what looks like a secret masked. */
  readonly matched_text: string
  /** `body.messages[0].content`, `query.q`, `path`, `headers.x-note`, `response.body…`. */
  readonly location: string
  /** Byte offsets in the text that `location` begins with: body, query, path or header value. */
  readonly start: number
  readonly end: number
  /** The disguises that were decoded to find it, outermost first; empty for plain text. */
  readonly via: readonly string[]
  /** The expression of a custom pattern. */
  readonly pattern: string | null
  readonly whitelisted: boolean
  /** Whose words they are. */
  readonly speaker: Speaker
  /** False where the pattern is no finding in the words of this speaker: it is only recorded. */
  readonly counts: boolean
  /** Of the whole text, unescaped, as `trusted_texts` names it; null where it has several speakers. */
  readonly text_hash: string | null
}

/** Only so many findings are kept: the most severe, and of these the first. */
export const FINDING_LIMIT = 64

/** Most severe first. */
export const SEVERITY_RANK: Readonly<Record<Severity, number>> = { critical: 0, high: 1, medium: 2 }

/** Most severe first; findings of equal severity in the order of the text. */
export const bySeverity = (findings: readonly Finding[]): Finding[] =>
  [...findings].sort((a, b) => SEVERITY_RANK[a.severity] - SEVERITY_RANK[b.severity])

type Weight = Pick<Finding, 'severity' | 'whitelisted' | 'counts'>

/** Lower is more important. Findings without effect come last. */
const importance = ({ severity, whitelisted, counts }: Weight): number =>
  whitelisted || !counts ? 3 : SEVERITY_RANK[severity]

/** Whether no further finding would be kept. */
export const holdsOnlyWorst = (findings: readonly Finding[]): boolean =>
  findings.length >= FINDING_LIMIT && findings.every((one) => importance(one) === 0)

/** Whether a finding would be kept. Otherwise, many harmless findings could hide an attack that follows them. */
export const wouldKeep = (findings: readonly Finding[], finding: Weight): boolean =>
  findings.length < FINDING_LIMIT || findings.some((one) => importance(one) > importance(finding))

/** Adds a finding; where there is no room, the last of the least important ones is dropped. */
export const addFinding = (findings: Finding[], finding: Finding): void => {
  if (!wouldKeep(findings, finding)) return
  if (findings.length >= FINDING_LIMIT) {
    const least = Math.max(...findings.map(importance))
    findings.splice(
      findings.findLastIndex((one) => importance(one) === least),
      1,
    )
  }
  findings.push(finding)
}

export const dropFinding = (findings: Finding[], finding: Finding): void => {
  const index = findings.indexOf(finding)
  if (index >= 0) findings.splice(index, 1)
}
