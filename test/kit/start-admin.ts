import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { PROGRAMS } from '../../cli/launcher/programs.ts'
import { mintKey } from '../../core/keys/api-key.ts'
import type { Environment } from '../../core/settings/settings.ts'
import { freePort } from './free-port.ts'
import { until } from './until.ts'

/** What several admin processes of one deployment share. */
export interface AdminIdentity {
  readonly token: string
  readonly encryption_key: string
}

export const newAdminIdentity = (): AdminIdentity => ({
  token: mintKey('admin'),
  encryption_key: randomBytes(32).toString('base64'),
})

export interface KitAdmin {
  readonly url: string
  readonly token: string
  readonly pid: number
  readonly log: () => string
  /** With -9, as a crash would. */
  readonly kill: () => Promise<void>
  readonly stop: () => Promise<void>
}

/** The admin service in a process of its own, on a store that runs already. */
export async function startAdmin(
  redis_url: string,
  identity: AdminIdentity = newAdminIdentity(),
  env: Environment = {},
): Promise<KitAdmin> {
  const port = await freePort()
  const child = spawn(process.execPath, PROGRAMS.admin, {
    env: {
      PATH: process.env['PATH'],
      REDIS_URL: redis_url,
      AGW_API_PORT: String(port),
      AGW_ADMIN_TOKEN: identity.token,
      AGW_ENCRYPTION_KEY: identity.encryption_key,
      LOG_LEVEL: 'debug',
      ...env,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let log = ''
  for (const output of [child.stdout, child.stderr])
    output.setEncoding('utf8').on('data', (text: string) => {
      log += text
    })
  const exited = once(child, 'exit')
  const killWithUs = (): void => void child.kill('SIGKILL')
  process.once('exit', killWithUs)
  const url = `http://127.0.0.1:${port}`
  const end = async (signal: NodeJS.Signals): Promise<void> => {
    process.removeListener('exit', killWithUs)
    child.kill(signal)
    await exited
  }
  await until('the admin service is listening', async () => {
    if (child.exitCode !== null || child.signalCode !== null)
      throw new Error(`admin ended with ${child.exitCode ?? child.signalCode}:\n${log}`)
    return (await fetch(`${url}/healthz`).catch(() => null)) !== null
  })
  return {
    url,
    token: identity.token,
    pid: child.pid ?? 0,
    log: () => log,
    kill: () => end('SIGKILL'),
    stop: () => end('SIGTERM'),
  }
}
