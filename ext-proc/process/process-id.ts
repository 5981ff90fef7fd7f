import { randomBytes } from 'node:crypto'
import type { Settings } from '../../core/settings/settings.ts'

/** Unique to this process, also where another host runs one of the same name: the name, and a random part. */
export const processId = ({ edgeId, edgeBoot }: Settings): string =>
  `${edgeId}/${edgeBoot ?? randomBytes(6).toString('hex')}`
