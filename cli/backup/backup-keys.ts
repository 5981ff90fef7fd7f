import {
  createCipheriv,
  createDecipheriv,
  createHmac,
  type Hmac,
  randomBytes,
  scryptSync,
} from 'node:crypto'
import { readSecretFile } from '../../core/settings/secret-file.ts'
import type { Environment } from '../../core/settings/settings.ts'

/** 128 MiB and about half a second for each guess of a passphrase. */
const SCRYPT = { N: 2 ** 17, r: 8, p: 1, maxmem: 256 * 2 ** 20 }
const NONCE_BYTES = 12
const TAG_BYTES = 16
const PASSPHRASE_MIN = 12

/** Encryption keys in a backup, encrypted with a passphrase (scrypt, AES-256-GCM); each part is Base64. */
export interface WrappedKeys {
  readonly salt: string
  readonly nonce: string
  readonly body: string
}

export function wrapKeys(text: string, passphrase: string): WrappedKeys {
  const salt = randomBytes(16)
  const nonce = randomBytes(NONCE_BYTES)
  const cipher = createCipheriv('aes-256-gcm', scryptSync(passphrase, salt, 32, SCRYPT), nonce)
  const body = Buffer.concat([cipher.update(text, 'utf8'), cipher.final(), cipher.getAuthTag()])
  const [saltText, nonceText, bodyText] = [salt, nonce, body].map((one) => one.toString('base64'))
  return { salt: saltText ?? '', nonce: nonceText ?? '', body: bodyText ?? '' }
}

/** @throws when the passphrase is wrong or the text was altered */
export function unwrapKeys(wrapped: WrappedKeys, passphrase: string): string {
  const [salt, nonce, body] = [wrapped.salt, wrapped.nonce, wrapped.body].map((one) =>
    Buffer.from(one, 'base64'),
  )
  const bytes = body ?? Buffer.alloc(0)
  try {
    const key = scryptSync(passphrase, salt ?? '', 32, SCRYPT)
    const options = { authTagLength: TAG_BYTES }
    const decipher = createDecipheriv('aes-256-gcm', key, nonce ?? '', options)
    decipher.setAuthTag(bytes.subarray(bytes.length - TAG_BYTES))
    const head = decipher.update(bytes.subarray(0, bytes.length - TAG_BYTES))
    return Buffer.concat([head, decipher.final()]).toString('utf8')
  } catch {
    throw new Error('The passphrase does not open the keys in this backup.')
  }
}

/** AGW_BACKUP_PASSPHRASE, or the content of the file that AGW_BACKUP_PASSPHRASE_FILE names; null without one. */
export function readPassphrase(env: Environment): string | null {
  const file = env['AGW_BACKUP_PASSPHRASE_FILE']?.trim()
  if (file) {
    const read = readSecretFile(file)
    if (!read.ok) throw new Error(`AGW_BACKUP_PASSPHRASE_FILE ${read.problem}.`)
    return checked(read.value)
  }
  const text = env['AGW_BACKUP_PASSPHRASE']
  return text ? checked(text) : null
}

function checked(passphrase: string): string {
  if (passphrase.length < PASSPHRASE_MIN)
    throw new Error(`The passphrase must have at least ${PASSPHRASE_MIN} characters.`)
  return passphrase
}

/** Authenticates a backup, so that one that was altered is refused: only who has the encryption key can make one. */
export const backupMac = (key: Buffer): Hmac =>
  createHmac('sha256', createHmac('sha256', key).update('agw backup').digest())
