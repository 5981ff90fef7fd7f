import type { Organization } from '../../core/model.ts'
import { REDIS_KEYS } from '../../core/redis/redis-keys.ts'
import { mergePatch } from '../changes/merge-patch.ts'
import { readRecord } from '../lists/records.ts'
import { checkInput } from '../http/check-input.ts'
import { checkReadOnly } from '../http/check-read-only.ts'
import type { Call } from '../http/define-route.ts'
import { type Outcome, answer, invalid, notFound } from '../http/outcome.ts'
import { EditableOrganization, ORGANIZATION_READ_ONLY } from './organization-schemas.ts'

export async function updateOrganization(
  call: Call<{ organization_id: string }>,
): Promise<Outcome> {
  const { context, params } = call
  const patch = call.body as Record<string, unknown>
  const { organization_id } = params
  const stored = await readRecord<Organization>(
    context.redis,
    REDIS_KEYS.organizations,
    organization_id,
  )
  if (stored === null) return notFound()
  const { record: before } = stored
  const fixed = checkReadOnly(patch, { ...before }, ORGANIZATION_READ_ONLY)
  if (fixed.length > 0) return invalid(fixed)
  const { organization_id: _, created_at: __, ...changes } = patch
  const merged = mergePatch({ name: before.name }, changes, { whole: [], nullable: [] })
  const checked = checkInput(EditableOrganization, merged)
  if (!checked.ok) return invalid(checked.issues)
  const after: Organization = { ...before, ...checked.value }
  return {
    kind: 'plan',
    guards: [['HGET', REDIS_KEYS.organizations, organization_id, stored.text]],
    writes: [['HSET', REDIS_KEYS.organizations, organization_id, JSON.stringify(after)]],
    targets: [{ what: 'organization', organization_id }],
    audit: { action: 'organization.update', target: organization_id, before, after },
    answer: answer(200, after),
  }
}
