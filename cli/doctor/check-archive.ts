import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { hideFormerSecrets } from '../../admin/activity/hide-former-secrets.ts'
import type { ActivityEntry } from '../../core/activity/activity-entry.ts'
import { readArchiveLine } from '../../core/activity/archive-line.ts'
import { readArchiveLines } from '../../core/activity/read-archive-lines.ts'
import { counted } from '../terminal/counted.ts'
import { type CheckResult, ok, warning } from './check-result.ts'

/** Reading takes a second for some 100 MB. Of a larger archive the newest files are read first. */
const TIME_LIMIT_MS = 20_000
/** Files that are named; the rest are counted. */
const FILES_NAMED = 20

/**
 * Names the files of the archive in which version 0.1 wrote secrets in the clear: user names of `basic` credentials and
 * URLs of webhooks. Their lines are chained to each other, so they are not rewritten.
 */
export async function checkArchive(
  folder: string,
  time_limit_ms = TIME_LIMIT_MS,
): Promise<CheckResult[]> {
  if (!existsSync(folder)) return []
  const check = 'archive'
  const deadline_ms = performance.now() + time_limit_ms
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.ndjson(\.gz)?$/.test(name))
    .sort((a, b) => (fileName(a) < fileName(b) ? 1 : -1))
  const findings: CheckResult[] = []
  let shown = 0
  let looked = 0
  for (const file of files) {
    const lines = await countLines(join(folder, file), deadline_ms)
    if (lines === null) break
    looked++
    if (lines === 0) continue
    shown++
    if (shown > FILES_NAMED) continue
    findings.push(
      warning(
        check,
        `${join(folder, file)} shows user names or webhook URLs in ${counted(lines, 'line')}`,
        ADVICE,
      ),
    )
  }
  if (shown > FILES_NAMED)
    findings.push(warning(check, `and ${counted(shown - FILES_NAMED, 'more file')}`, ADVICE))
  if (looked < files.length)
    findings.push(
      warning(
        check,
        `${files.length - looked} of ${counted(files.length, 'file')} could not be checked within ${time_limit_ms / 1000} s`,
        'Run agw doctor where the disk is faster, or remove files that are no longer needed.',
      ),
    )
  return findings.length > 0
    ? findings
    : [ok(check, looked === 1 ? '1 file shows no secret' : `${looked} files show no secret`)]
}

const ADVICE =
  'Written by version 0.1. Rotate the exposed credentials at their providers, and delete the files when they are no longer needed.'

const fileName = (path: string): string => path.slice(path.lastIndexOf('/') + 1)

/** Null when the time limit is reached. */
async function countLines(file: string, deadline_ms: number): Promise<number | null> {
  let count = 0
  try {
    for await (const line of readArchiveLines(file)) {
      if (performance.now() > deadline_ms) return null
      if (holdsSecret(line)) count++
    }
  } catch {
    // `agw audit verify` reports a damaged file.
  }
  return count
}

function holdsSecret(line: string): boolean {
  // Most lines are calls; only lines that can hold a secret are parsed.
  if (!line.includes('"admin_action"') || !/"username"|"url"/.test(line)) return false
  const entry_text = readArchiveLine(line)?.entry_text
  if (entry_text === undefined) return false
  try {
    const entry = JSON.parse(entry_text) as ActivityEntry
    return hideFormerSecrets(entry) !== entry
  } catch {
    return false
  }
}
