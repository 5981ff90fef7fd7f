import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Writable } from 'node:stream'
import { type ArchiveReport, verifyArchive } from '../../core/activity/verify-archive.ts'
import { readArchiveKeys } from '../../core/store/archive-keys-file.ts'
import { type Environment, readSettings } from '../../core/settings/settings.ts'
import { type AdminOptions, givenAccess } from '../deployment/admin-access.ts'
import { callAdmin } from '../deployment/call-admin.ts'
import { counted } from '../terminal/counted.ts'
import { findOwnKey } from '../deployment/own-key.ts'
import { terminalJson, terminalLines } from '../terminal/terminal-text.ts'

export interface AuditOptions extends AdminOptions {
  /** The folder of the archive; else AGW_ARCHIVE_DIR, else `archive` in the data directory. */
  readonly dir?: string
}

interface Head {
  readonly organization_id: string
  readonly n: number
  readonly mac: string
}

/**
 * `agw audit verify`: verifies the archive and names every line that was changed, removed, moved or truncated. It needs the
 * directory and the encryption key. With an admin token it also asks the service where the archive of the token's
 * organization must end, which files alone cannot prove.
 * @returns the exit code: 0 no problem found, 1 otherwise
 * @throws with a message for the operator when the folder or the key is missing
 */
export async function runAuditVerify(
  options: AuditOptions,
  env: Environment,
  stdout: Writable,
  stderr: Writable,
): Promise<number> {
  const read = readSettings(env)
  if (!read.ok) throw new Error(read.problems.join('\n'))
  const { settings } = read
  const folder = options.dir ?? settings.archiveDir ?? join(settings.dataDir, 'archive')
  if (!existsSync(folder))
    throw new Error(`No archive found in ${folder}. Use --dir, or set AGW_ARCHIVE_DIR.`)
  const own = findOwnKey(settings)
  if (own === null)
    throw new Error(
      `The encryption key is required: set AGW_ENCRYPTION_KEY, or set AGW_DATA_DIR to the directory of ${join(settings.dataDir, 'encryption-key')}.`,
    )
  let isWell = true
  for (const archive of archivesIn(folder)) {
    const head = await askHead(options, archive.id, stderr)
    const heads = new Map(head === null ? [] : [[head.organization_id, head]])
    const report = await verifyArchive(archive.path, readArchiveKeys(archive.path, own.ring), heads)
    isWell &&= report.problems.length === 0
    stdout.write(
      options.output === 'json'
        ? `${terminalJson({ archive: archive.path, end_checked: head !== null, ...report })}\n`
        : terminalLines(describe(archive.path, report, head !== null)),
    )
  }
  return isWell ? 0 : 1
}

const ID_FILE = 'archive-id'

/** The directory of one deployment, or one that holds several. */
function archivesIn(folder: string): { readonly path: string; readonly id: string }[] {
  const paths = existsSync(join(folder, ID_FILE))
    ? [folder]
    : readdirSync(folder).map((name) => join(folder, name))
  const archives = paths
    .filter((path) => existsSync(join(path, ID_FILE)))
    .map((path) => ({ path, id: readFileSync(join(path, ID_FILE), 'utf8').trim() }))
  if (archives.length === 0) throw new Error(`${folder} contains no archive.`)
  return archives
}

async function askHead(
  options: AuditOptions,
  archive_id: string,
  stderr: Writable,
): Promise<Head | null> {
  if (givenAccess(options, process.env).token === null) {
    stderr.write(
      'Without a token, the end of the archive is only checked against its sealed head.\n',
    )
    return null
  }
  const answer = await callAdmin(options, 'GET', `/admin/audit/head?archive_id=${archive_id}`)
  if (answer.status === 200) {
    const head = answer.body as Head & { readonly mac: string | null }
    return head.mac === null ? null : head
  }
  throw new Error(`The service did not return the end of the archive: HTTP ${answer.status}.`)
}

function describe(path: string, report: ArchiveReport, isEndChecked: boolean): string {
  const { organizations, files, lines, missed, problems } = report
  return [
    `${path}: ${counted(lines, 'line')} in ${counted(files, 'file')} of ${counted(organizations, 'organization')}`,
    ...(missed > 0
      ? [
          `  ${counted(missed, 'entry was trimmed before it', 'entries were trimmed before they')} could be archived`,
        ]
      : []),
    ...problems.map(
      ({ organization_id, file, line, problem }) =>
        `  ${organization_id}/${file}${line === null ? '' : `:${line}`}: ${problem}`,
    ),
    problems.length > 0
      ? `  ${counted(problems.length, 'problem')}`
      : `  the chain is intact${isEndChecked ? ', up to the end known to the service' : ''}`,
    '',
  ].join('\n')
}
