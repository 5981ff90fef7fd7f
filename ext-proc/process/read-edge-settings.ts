import { type Environment, readSettings, type Settings } from '../../core/settings/settings.ts'
import type { ServerTls } from '../envoy/start-server.ts'
import { processId } from './process-id.ts'

/** Settings of an ext-proc process, including those that the launcher, or the operator of a fleet, must provide. */
export interface EdgeSettings extends Settings {
  readonly redisUrl: string
  readonly encryptionKey: string
  /** The newest one. */
  readonly verdictSecret: string
  readonly extProcAddress: string
  readonly processId: string
}

/** @throws with a message for the operator that lists all errors */
export function readEdgeSettings(env: Environment): EdgeSettings {
  const read = readSettings(env)
  if (!read.ok) throw new Error(read.problems.join('\n'))
  const { settings } = read
  const { redisUrl, encryptionKey, extProcAddress } = settings
  const verdictSecret = settings.verdictSecrets?.[0] ?? null
  if (
    redisUrl === null ||
    encryptionKey === null ||
    verdictSecret === null ||
    extProcAddress === null
  ) {
    const missing = [
      redisUrl === null && 'REDIS_URL',
      encryptionKey === null && 'AGW_ENCRYPTION_KEY',
      verdictSecret === null && 'AGW_VERDICT_SECRET',
      extProcAddress === null && 'AGW_EXT_PROC_ADDRESS',
    ].filter((name) => name !== false)
    throw new Error(`ext-proc requires ${missing.join(', ')}; "agw start" sets them`)
  }
  return {
    ...settings,
    redisUrl,
    encryptionKey,
    verdictSecret,
    extProcAddress,
    processId: processId(settings),
  }
}

export function tlsOf(settings: Settings): ServerTls | null {
  const { extProcTlsCertFile, extProcTlsKeyFile, extProcTlsCaFile } = settings
  if (extProcTlsCertFile === null || extProcTlsKeyFile === null || extProcTlsCaFile === null)
    return null
  return {
    cert_file: extProcTlsCertFile,
    key_file: extProcTlsKeyFile,
    ca_file: extProcTlsCaFile,
    client_sans: settings.extProcTlsClientSans,
  }
}
