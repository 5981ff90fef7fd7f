import { mkdirSync, renameSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Environment } from '../../core/settings/settings.ts'
import { loginFile } from '../deployment/login-file.ts'
import type { ForwardPlace } from './forward-variables.ts'

const ANSWER_LIMIT_MS = 10_000

/**
 * Fetches the CA of the gateway and keeps it in the configuration folder of the user.
 * @throws with a message for the operator when the gateway has none or does not answer
 */
export async function fetchCaFiles(
  url: string,
  env: Environment,
): Promise<Pick<ForwardPlace, 'ca_file' | 'bundle_file'>> {
  const folder = join(dirname(loginFile(env)), new URL(url).host.replace(/[^\w.-]/g, '_'))
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  const [ca_file, bundle_file] = await Promise.all(
    ['ca.pem', 'ca-bundle.pem'].map(async (name) => {
      const answer = await fetch(`${url}/${name}`, {
        redirect: 'error',
        signal: AbortSignal.timeout(ANSWER_LIMIT_MS),
      }).catch((error: unknown) => {
        throw new Error(`${url} is unreachable: ${(error as Error).message}`)
      })
      if (answer.status === 404)
        throw new Error(
          'The gateway has no forward proxy: AGW_FORWARD_PORT is off, or its CA is not made yet.',
        )
      const text = await answer.text()
      if (!answer.ok || !text.includes('BEGIN CERTIFICATE'))
        throw new Error(`${url}/${name} returned HTTP ${answer.status} and no certificate`)
      return replaceFile(join(folder, name), text)
    }),
  )
  return { ca_file: ca_file ?? '', bundle_file: bundle_file ?? '' }
}

/** As a whole, so that no client reads half of it. */
function replaceFile(file: string, text: string): string {
  const next = `${file}.${process.pid}`
  writeFileSync(next, text, { mode: 0o600 })
  renameSync(next, file)
  return file
}
