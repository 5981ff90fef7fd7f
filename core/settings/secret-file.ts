import { readFileSync, statSync } from 'node:fs'
import type { Parsed } from './setting-kinds.ts'

/** Far more than any secret setting needs; a larger file must be a different one. */
const SECRET_FILE_LIMIT_BYTES = 65_536

/**
 * The text of a file that holds one secret, such as a Docker or Kubernetes secret, without white space around it. The error
 * names the file but never its content.
 */
export function readSecretFile(file: string): Parsed<string> {
  try {
    const found = statSync(file)
    // A pipe could block startup, and the next process would find it empty.
    if (!found.isFile()) return bad(`names something that is not a regular file: ${file}`)
    if (found.size > SECRET_FILE_LIMIT_BYTES)
      return bad(`names a file of more than ${SECRET_FILE_LIMIT_BYTES} bytes: ${file}`)
    const text = readFileSync(file, 'utf8').trim()
    return text === '' ? bad(`names an empty file: ${file}`) : { ok: true, value: text }
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    return bad(`names a file that cannot be read: ${file} (${code ?? 'error'})`)
  }
}

const bad = (problem: string): Parsed<never> => ({ ok: false, problem })
