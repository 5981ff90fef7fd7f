import { createHash, randomBytes } from 'node:crypto'
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { mintKey } from '../../core/keys/api-key.ts'
import type { Settings } from '../../core/settings/settings.ts'

/** The directory in which a deployment keeps its state, accessible only to its owner. */
export interface DataDir {
  readonly path: string
  /** For Unix sockets, whose paths must be short. */
  readonly sockets: string
}

/** Linux keeps 108 bytes for the path of a socket, macOS 104; the longest name here is `ext-proc-256.sock`. */
const SOCKET_FOLDER_LIMIT_BYTES = 80

/**
 * Creates the directories.
 * @throws a message for the operator when they cannot be created or belong to another user
 */
export function openDataDir(setting: string): DataDir {
  const dataDir = dataDirAt(setting)
  ownFolder(dataDir.path)
  ownFolder(dataDir.sockets)
  return dataDir
}

/** The paths of the directories, whether they exist or not. */
export function dataDirAt(setting: string): DataDir {
  const path = resolve(setting)
  const inside = join(path, 'run')
  if (Buffer.byteLength(inside) <= SOCKET_FOLDER_LIMIT_BYTES) return { path, sockets: inside }
  const digest = createHash('sha256').update(path).digest('hex').slice(0, 16)
  return { path, sockets: join(tmpdir(), `agw-${digest}`) }
}

function ownFolder(folder: string): void {
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 })
    const found = lstatSync(folder)
    const isOurs = found.isDirectory() && found.uid === process.getuid?.()
    if (!isOurs) throw new Error('it does not belong to this user')
    chmodSync(folder, 0o700)
  } catch (error) {
    throw new Error(
      `The data directory ${folder} cannot be used: ${(error as Error).message}. Set AGW_DATA_DIR to a directory that you own.`,
    )
  }
}

export interface OwnSecrets {
  readonly adminToken: string
  /** Whether the token was created by this start and must be shown. */
  readonly isNewToken: boolean
  /** What AGW_ENCRYPTION_KEY says; null where the key comes from the file, which the children follow for changes. */
  readonly encryptionKey: string | null
  readonly encryptionKeyFile: string | null
}

/** The secrets of the settings, else those of the data directory, which the first start creates. */
export function ownSecrets(
  dataDir: DataDir,
  settings: Pick<Settings, 'adminToken' | 'encryptionKey' | 'encryptionKeyFile'>,
): OwnSecrets {
  const tokenFile = join(dataDir.path, 'admin-token')
  const encryptionKeyFile =
    settings.encryptionKey === null ? ownKeyFile(dataDir) : settings.encryptionKeyFile
  const isNewToken = settings.adminToken === null && !existsSync(tokenFile)
  return {
    adminToken: settings.adminToken ?? keptSecret(tokenFile, () => mintKey('admin')),
    isNewToken,
    encryptionKey: encryptionKeyFile === null ? settings.encryptionKey : null,
    encryptionKeyFile,
  }
}

export const encryptionKeyFile = (dataDir: DataDir): string => join(dataDir.path, 'encryption-key')

/** @throws when the key is missing although the embedded store has been used: a new one could not open anything */
function ownKeyFile(dataDir: DataDir): string {
  const file = encryptionKeyFile(dataDir)
  const store = join(dataDir.path, 'valkey')
  if (!existsSync(file) && existsSync(store) && readdirSync(store).length > 0)
    throw new Error(
      `${file} is missing, but ${store} contains a store that is encrypted with it. Restore the file from a backup. If the key is lost: docs/guides/credentials.md#a-lost-encryption-key.`,
    )
  keptSecret(file, () => randomBytes(32).toString('base64'))
  return file
}

function keptSecret(file: string, make: () => string): string {
  if (!existsSync(file)) writeOwnFile(file, `${make()}\n`)
  chmodSync(file, 0o600)
  const text = readFileSync(file, 'utf8').trim()
  if (text === '') throw new Error(`${file} is empty. Restore its content, or delete it.`)
  return text
}

/** Writes a file that only the owner can read, even if it existed with other permissions. */
export function writeOwnFile(file: string, text: string): void {
  writeFileSync(file, text, { mode: 0o600 })
  chmodSync(file, 0o600)
}
