import { answerPings } from '../core/system/answer-pings.ts'
import { survivesItsReader } from '../core/system/line-output.ts'
import { readSettings, type Settings, unknownSettings } from '../core/settings/settings.ts'
import { makeLog } from './server/make-log.ts'
import { startGate } from './gate/start-gate.ts'
import type { RunningAdmin } from './server/running-admin.ts'

/** Connections that are still open after this time are closed. */
const STOP_LIMIT_MS = 5000

survivesItsReader()
answerPings()

const read = readSettings(process.env)
const problems = read.ok ? missing(read.settings) : read.problems
if (!read.ok || problems.length > 0) {
  process.stderr.write(
    `The admin service cannot start:\n${problems.map((f) => `- ${f}\n`).join('')}`,
  )
  process.exit(1)
}

const { settings } = read
const log = makeLog('info')

try {
  const { redisUrl, encryptionKey } = settings
  if (redisUrl === null || encryptionKey === null)
    throw new Error('the settings have not been validated')
  const admin = await startGate({ ...settings, redisUrl, encryptionKey }, log, (token) => {
    process.stdout.write(`Admin token (shown only once): ${token}\n`)
  })
  // The launcher says this once for all its children.
  if (process.send === undefined)
    for (const notice of unknownSettings(process.env)) log.warn(notice)
  log.info({ host: settings.apiHost, port: admin.port }, 'the admin service is listening')
  stopOnSignal(admin)
  process.send?.({ kind: 'ready', port: admin.port })
} catch (error) {
  const why = error instanceof Error ? error.message : String(error)
  process.stderr.write(`The admin service cannot start: ${why}\n`)
  process.exit(1)
}

function missing({ redisUrl, encryptionKey }: Settings): string[] {
  return [
    ...(redisUrl === null ? ['REDIS_URL is required unless `agw start` runs the store.'] : []),
    ...(encryptionKey === null
      ? ['AGW_ENCRYPTION_KEY is required unless `agw start` generates it.']
      : []),
  ]
}

function stopOnSignal(admin: RunningAdmin): void {
  let stopping = false
  const stop = (isReplaced = false): void => {
    if (stopping) return
    stopping = true
    setTimeout(() => process.exit(0), STOP_LIMIT_MS).unref()
    admin.stop(isReplaced).then(
      () => process.exit(0),
      () => process.exit(1),
    )
  }
  process.once('SIGTERM', () => stop())
  process.once('SIGINT', () => stop())
  process.once('disconnect', () => stop())
  // From `agw start`, after it has started another process on the same sockets.
  process.once('SIGHUP', () => stop(true))
}
