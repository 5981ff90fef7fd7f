import type { SealedKind } from '../../core/keys/seal.ts'
import { sealedAnswers } from './sealed-answers.ts'
import { sealedArchiveKeys } from './sealed-archive-keys.ts'
import { sealedAuthority } from './sealed-authority.ts'
import { sealedCredentials } from './sealed-credentials.ts'
import { sealedExcerpts } from './sealed-excerpts.ts'
import { sealedGrants } from './sealed-grants.ts'
import { sealedMinted } from './sealed-minted.ts'
import type { SealedStore } from './sealed-store.ts'
import { sealedWebhookSecrets } from './sealed-webhook-secrets.ts'

/** Everything that is encrypted under the key ring. A kind that is missing here does not compile. */
export const SEALED_STORES: Readonly<Record<SealedKind, SealedStore>> = {
  credential: sealedCredentials,
  connection_grant: sealedGrants,
  minted_token: sealedMinted,
  webhook_secret: sealedWebhookSecrets,
  idempotent_answer: sealedAnswers,
  archive_key: sealedArchiveKeys,
  forward_ca: sealedAuthority,
  access_excerpt: sealedExcerpts,
}
