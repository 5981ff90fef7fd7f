import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Type } from 'typebox'
import { verifyArchive } from '../../core/activity/verify-archive.ts'
import { REDIS_KEYS } from '../../core/redis/redis-keys.ts'
import type { RedisClient } from '../../core/redis/run-script.ts'
import { readArchiveKeys } from '../../core/store/archive-keys-file.ts'
import { Nullable, Strict } from '../http/common-schemas.ts'
import { defineRoute, type Route } from '../http/define-route.ts'
import { answer } from '../http/outcome.ts'

/** As long as a client waits for a response; `agw audit verify` has no limit. */
const VERIFY_LIMIT_MS = 20_000

export const HeadView = Strict({
  organization_id: Type.String(),
  installation_id: Type.String(),
  archive_id: Nullable(Type.String()),
  n: Type.Integer({ description: 'Number of the last archived entry; 0 before the first' }),
  mac: Nullable(Type.String({ description: 'Its hash' })),
})

export const VerificationView = Strict({
  archive_id: Nullable(
    Type.String({
      description: 'Null if this service keeps no archive; nothing was verified then',
    }),
  ),
  lines: Type.Integer({ description: 'Lines that were verified, from the oldest on' }),
  files: Type.Integer(),
  missed: Type.Integer({ description: 'Entries that were trimmed before they could be archived' }),
  complete: Type.Boolean({
    description: `Whether the end was reached within ${VERIFY_LIMIT_MS / 1000} seconds`,
  }),
  problems: Type.Array(
    Strict({ file: Type.String(), line: Nullable(Type.Integer()), problem: Type.String() }),
  ),
})

export const auditRoutes: readonly Route[] = [
  defineRoute({
    method: 'GET',
    path: '/admin/audit/head',
    role: 'viewer',
    tag: 'activity',
    summary: 'The end of the archive of this organization, as recorded in the store',
    query: Strict({
      archive_id: Type.Optional(
        Type.String({
          maxLength: 64,
          description: 'Default: the archive of this service',
        }),
      ),
    }),
    answers: { 200: HeadView },
    handle: async ({ context: { redis, settings }, actor: { organization_id }, query }) => {
      const installation_id = (await redis.get(REDIS_KEYS.installation)) ?? ''
      const archive_id = query.archive_id ?? ownArchive(settings.archiveDir, installation_id)
      const { n, mac } = await readHead(redis, archive_id, organization_id)
      return answer(200, { organization_id, installation_id, archive_id, n, mac })
    },
  }),
  defineRoute({
    method: 'POST',
    path: '/admin/audit/verify',
    role: 'operator',
    costly: 'verify',
    tag: 'activity',
    summary: 'Verify the archive of this organization on the disk of this service',
    answers: { 200: VerificationView },
    handle: async ({ context, actor: { organization_id } }) => {
      const { redis, ring, settings, nowMs } = context
      const installation_id = (await redis.get(REDIS_KEYS.installation)) ?? ''
      const archive_id = ownArchive(settings.archiveDir, installation_id)
      const { n, mac } = await readHead(redis, archive_id, organization_id)
      if (settings.archiveDir === null || archive_id === null || mac === null)
        return answer(200, { ...NOTHING_VERIFIED, archive_id })
      const folder = join(settings.archiveDir, installation_id)
      const end_ms = nowMs() + VERIFY_LIMIT_MS
      const heads = new Map([[organization_id, { n, mac }]])
      const { lines, files, missed, complete, problems } = await verifyArchive(
        folder,
        readArchiveKeys(folder, ring),
        heads,
        { organization_id, isOver: () => nowMs() > end_ms },
      )
      const found = problems.map(({ file, line, problem }) => ({ file, line, problem }))
      return answer(200, { archive_id, lines, files, missed, complete, problems: found })
    },
  }),
]

const NOTHING_VERIFIED = { lines: 0, files: 0, missed: 0, complete: true, problems: [] }

/** The end of an archive as the store has it. */
async function readHead(
  redis: RedisClient,
  archive_id: string | null,
  organization_id: string,
): Promise<{ readonly n: number; readonly mac: string | null }> {
  const head =
    archive_id === null
      ? null
      : await redis.hget(REDIS_KEYS.archiveHeads(archive_id), organization_id)
  const [n = '0', mac = null] = head?.split(' ') ?? []
  return { n: Number(n), mac }
}

function ownArchive(folder: string | null, installation_id: string): string | null {
  const file = folder === null ? '' : join(folder, installation_id, 'archive-id')
  return file !== '' && existsSync(file) ? readFileSync(file, 'utf8').trim() : null
}
