import type { ScanJob } from './answer-job.ts'

/** Enough for any small body. */
const BASE_MS = 2_000
/** Ten times the cost of the most expensive text that is known. */
const MS_PER_MIB = 1_600
/** For patterns that are compiled with the first job of a process. Those of a scope take a third of it at most. */
const PATTERNS_MS = 3_000

/** CPU time that a job may take; one that takes longer is ended. */
export function jobLimitMs(job: ScanJob, bytes: number): number {
  const { settings } = job
  const count = (settings?.custom_patterns.length ?? 0) + (settings?.whitelist_patterns.length ?? 0)
  return (
    BASE_MS + (MS_PER_MIB * inflatedBytes(job, bytes)) / 2 ** 20 + (count === 0 ? 0 : PATTERNS_MS)
  )
}

/** A compressed body may expand to its limit. */
function inflatedBytes(job: ScanJob, bytes: number): number {
  if (job.kind !== 'call' && job.kind !== 'response') return bytes
  const { content_encoding, limit_bytes } = job.kind === 'call' ? job.questions : job
  return content_encoding === null ? bytes : Math.max(bytes, limit_bytes)
}
