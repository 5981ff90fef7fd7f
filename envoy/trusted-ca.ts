import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { systemCaFile, trustedCas } from '../core/egress/system-ca.ts'

/** The system's CAs and the operator's in one file, since Envoy takes one; the system's own file where it is enough. */
export function trustedCaFile(folder: string, extraCaFile: string | null): string {
  const system = systemCaFile()
  if (system !== null && extraCaFile === null) return system
  const file = join(folder, 'trusted-ca.pem')
  writeFileSync(file, `${trustedCas(extraCaFile)}\n`, { mode: 0o600 })
  return file
}
