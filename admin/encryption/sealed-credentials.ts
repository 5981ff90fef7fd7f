import { findCredentialType, secretMembers } from '../../core/credential/catalogue.ts'
import type { Connection, Integration } from '../../core/catalogue/model.ts'
import { REDIS_KEYS } from '../../core/redis/redis-keys.ts'
import type { RedisClient } from '../../core/redis/run-script.ts'
import { scanHash } from '../../core/redis/scan-store.ts'
import { isSealed, type KeyRing } from '../../core/keys/seal.ts'
import { ownerOfConnection, resealAuth } from '../../core/store/credential-binding.ts'
import { readRecord } from '../resources/records.ts'
import { upstreamKey } from '../../core/store/upstream-key.ts'
import type { SealedRecord, SealedStore } from './sealed-store.ts'
import { parseRecord, recordText } from '../../core/store/stored-record.ts'

export const sealedCredentials: SealedStore = {
  names: ['credential', 'credentials'],
  is_short_lived: false,
  records: recordsOf,
}

async function* recordsOf(redis: RedisClient): AsyncGenerator<SealedRecord> {
  for await (const [organization_id] of scanHash(redis, REDIS_KEYS.organizations)) {
    const key = REDIS_KEYS.integrations(organization_id)
    for await (const [id, text] of scanHash(redis, key)) {
      const integration = parseRecord<Integration>(text)
      yield {
        organization_id,
        id,
        ...sealingOf(integration),
        reseal: (ring) => {
          const auth = resealAuth(ring, integration)
          const upstream = resealUpstream(ring, integration)
          if (auth === null || upstream === null) return null
          return {
            guards: [['HGET', key, id, text]],
            writes: [['HSET', key, id, recordText({ ...integration, ...upstream, auth })]],
            targets: [{ what: 'integrations', organization_id }],
          }
        },
      }
    }
    yield* connectionsOf(redis, organization_id)
  }
}

/** One without its integration, which a broken store can have, is read as unreadable. */
async function* connectionsOf(
  redis: RedisClient,
  organization_id: string,
): AsyncGenerator<SealedRecord> {
  const key = REDIS_KEYS.connections(organization_id)
  for await (const [id, text] of scanHash(redis, key)) {
    const connection = parseRecord<Connection>(text)
    const { integration_id, auth } = connection
    const integrations = REDIS_KEYS.integrations(organization_id)
    const integration = await readRecord<Integration>(redis, integrations, integration_id)
    const owner = ownerOfConnection(
      integration?.record ?? { organization_id, integration_id, base_url: '' },
      connection,
    )
    yield {
      organization_id,
      id,
      ...sealingOf({ auth }),
      reseal: (ring) => {
        const resealed = resealAuth(ring, owner)
        if (resealed === null) return null
        return {
          guards: [
            ['HGET', key, id, text],
            ['HGET', integrations, integration_id, integration?.text ?? false],
          ],
          writes: [['HSET', key, id, recordText({ ...connection, auth: resealed })]],
          targets: [{ what: 'integrations', organization_id }],
        }
      },
    }
  }
}

/** The connection settings with the private key sealed again, if there is one; null if it does not open. */
function resealUpstream(
  ring: KeyRing,
  integration: Integration,
): Pick<Integration, 'upstream'> | null {
  const { upstream } = integration
  if (upstream?.client_key === undefined) return {}
  const client_key = upstreamKey.reseal(ring, integration, upstream.client_key)
  return client_key === null ? null : { upstream: { ...upstream, client_key } }
}

function sealingOf({
  auth,
  upstream,
}: Pick<Integration, 'auth' | 'upstream'>): Pick<SealedRecord, 'sealed' | 'has_clear'> {
  const members = auth as unknown as Readonly<Record<string, string | undefined>>
  const declared = findCredentialType(auth.type)?.members ?? {}
  const names = secretMembers(auth.type).filter((name) => members[name] !== undefined)
  const isClear = (name: string): boolean =>
    declared[name]?.was_public === true && !isSealed(members[name] ?? '')
  return {
    sealed: [
      ...names.filter((name) => !isClear(name)).map((name) => members[name] ?? ''),
      ...(upstream?.client_key === undefined ? [] : [upstream.client_key]),
    ],
    has_clear: names.some(isClear),
  }
}
