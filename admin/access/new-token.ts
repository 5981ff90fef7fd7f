import { hashKey, lastFour, mintId, mintKey } from '../../core/keys/api-key.ts'
import type { AdminToken } from '../../core/catalogue/model.ts'
import { EPOCH, type Write } from '../../core/change/commit.ts'
import { REDIS_KEYS } from '../../core/redis/redis-keys.ts'
import { recordText } from '../../core/store/stored-record.ts'

export interface MintedToken {
  /** Shown once and stored nowhere. */
  readonly token: string
  readonly record: AdminToken
  readonly writes: readonly Write[]
  /** Of these writes, the one by which a token is found; the others store the record. */
  readonly link: Write
}

/** A new admin token; `token` is given where the text is not ours to choose. */
export function newToken(
  wanted: Omit<AdminToken, 'token_id' | 'hash' | 'last4'>,
  token = mintKey('admin'),
): MintedToken {
  const record: AdminToken = {
    ...wanted,
    token_id: mintId('tok'),
    hash: hashKey(token),
    last4: token.length < 16 ? '' : lastFour(token),
  }
  const { organization_id: org, token_id, hash } = record
  const link: Write = ['HSET', REDIS_KEYS.adminTokenHashes, hash, `${org} ${token_id}`]
  return {
    token,
    record,
    link,
    writes: [
      ['HSET', REDIS_KEYS.adminTokens(org), token_id, recordText(record)],
      ['ZADD', REDIS_KEYS.adminTokenIndex(org), EPOCH, token_id],
      link,
    ],
  }
}
