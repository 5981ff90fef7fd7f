import { parentPort, workerData } from 'node:worker_threads'
import { lowerThreadPriority } from '../core/system/lower-thread-priority.ts'
import { readSettings } from '../core/settings/settings.ts'
import { makeLog } from './server/make-log.ts'
import type { ApiSockets, FromApiThread, ToApiThread } from './gate/run-api-thread.ts'
import { ownThread } from './gate/run-delay.ts'
import type { RunningAdmin } from './server/running-admin.ts'
import { startAdmin } from './start-admin.ts'

// Kills are served by the main thread.
lowerThreadPriority()

/** The admin service without its listeners: it serves the gate, from a thread of its own. */
const tell = (message: FromApiThread): void => parentPort?.postMessage(message)

async function run(): Promise<RunningAdmin> {
  const read = readSettings(process.env)
  if (!read.ok) throw new Error(read.problems.join('\n'))
  const { redisUrl, encryptionKey } = read.settings
  if (redisUrl === null || encryptionKey === null)
    throw new Error('the settings have not been validated')
  return await startAdmin(
    { ...read.settings, redisUrl, encryptionKey },
    makeLog('info'),
    (token) => tell({ kind: 'token', token }),
    workerData as ApiSockets,
  )
}

tell({ kind: 'thread', thread: ownThread() })

// From the beginning: a start may wait long for the store.
parentPort?.on('message', (message: ToApiThread) => {
  if (message === 'ping') tell({ kind: 'pong' })
})

try {
  const admin = await run()
  let isStopping = false
  parentPort?.on('message', (message: ToApiThread) => {
    if (message !== 'stop' || isStopping) return
    isStopping = true
    const end = (): void => {
      tell({ kind: 'stopped' })
      parentPort?.close()
    }
    admin.stop().then(end, end)
  })
  tell({ kind: 'ready' })
} catch (error) {
  tell({ kind: 'failed', message: error instanceof Error ? error.message : String(error) })
  parentPort?.close()
}
