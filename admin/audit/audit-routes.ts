import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Type } from 'typebox'
import { REDIS_KEYS } from '../../core/redis/redis-keys.ts'
import { Nullable, Strict } from '../http/common-schemas.ts'
import { defineRoute, type Route } from '../http/define-route.ts'
import { answer } from '../http/outcome.ts'

const HeadView = Strict({
  organization_id: Type.String(),
  installation_id: Type.String(),
  archive_id: Nullable(Type.String()),
  n: Type.Integer({ description: 'Number of the last archived entry; 0 before the first' }),
  mac: Nullable(Type.String({ description: 'Its hash' })),
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
      const head =
        archive_id === null
          ? null
          : await redis.hget(REDIS_KEYS.archiveHeads(archive_id), organization_id)
      const [n = '0', mac = null] = head?.split(' ') ?? []
      return answer(200, { organization_id, installation_id, archive_id, n: Number(n), mac })
    },
  }),
]

function ownArchive(folder: string | null, installation_id: string): string | null {
  const file = folder === null ? '' : join(folder, installation_id, 'archive-id')
  return file !== '' && existsSync(file) ? readFileSync(file, 'utf8').trim() : null
}
