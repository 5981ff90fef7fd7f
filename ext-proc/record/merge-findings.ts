import { SEVERITY_RANK } from '../../core/scanner/finding.ts'

type FindingData = Readonly<Record<string, unknown>>

const RANK: Readonly<Record<string, number>> = SEVERITY_RANK

/** What is whitelisted stands behind all that is not, however severe it is. */
const rankOf = ({ whitelisted, severity }: FindingData): number =>
  (whitelisted === true ? 10 : 0) + (RANK[String(severity)] ?? SEVERITY_RANK.medium)

const countOf = ({ other_findings }: FindingData): number => 1 + Number(other_findings ?? 0)

/**
 * What is said of a call in whose request and response something was found: the most severe, then the first, with the
 * number of the others.
 */
export function mergeFindings(request: FindingData | null, response: FindingData): FindingData {
  if (request === null) return response
  const reported = rankOf(response) < rankOf(request) ? response : request
  return { ...reported, other_findings: countOf(request) + countOf(response) - 1 }
}
