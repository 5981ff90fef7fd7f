import type { Issue } from '../http/outcome.ts'
import { METADATA_LIMIT_BYTES } from './agent-schemas.ts'

export const checkMetadata = (metadata: unknown): Issue[] =>
  Buffer.byteLength(JSON.stringify(metadata)) > METADATA_LIMIT_BYTES
    ? [{ path: '/metadata', message: `must be at most ${METADATA_LIMIT_BYTES} bytes as JSON` }]
    : []
