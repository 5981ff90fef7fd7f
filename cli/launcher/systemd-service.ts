import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import type { Environment } from '../../core/settings/settings.ts'

const run = promisify(execFile)

/** The watchdog of systemd is answered this often within its time-out. */
const ANSWERS_IN_TIMEOUT = 3
const NOTIFY_LIMIT_MS = 5_000

export interface SystemdService {
  /** Sends a state (`READY=1`) of this service to systemd; see sd_notify(3). Does nothing outside a service of `Type=notify`. */
  readonly notify: (state: string) => Promise<void>
}

/**
 * This process as a service of systemd. Node cannot write to the datagram socket of systemd, so `systemd-notify` does, which
 * comes with it. While the event loop turns, the watchdog of systemd (`WatchdogSec=`) is answered.
 */
export function systemdService(env: Environment): SystemdService {
  if (!env['NOTIFY_SOCKET']) return { notify: async () => undefined }
  const notify = async (state: string): Promise<void> => {
    // A state that is lost delays the service or restarts it, which systemd then says.
    await run('systemd-notify', [state], { env, timeout: NOTIFY_LIMIT_MS }).catch(() => undefined)
  }
  const watchdog_ms = Number(env['WATCHDOG_USEC'] ?? '0') / 1000
  if (watchdog_ms > 0)
    setInterval(() => void notify('WATCHDOG=1'), watchdog_ms / ANSWERS_IN_TIMEOUT).unref()
  return { notify }
}
