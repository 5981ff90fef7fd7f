import { existsSync } from 'node:fs'
import { access } from 'node:fs/promises'
import type { Logger } from 'pino'

const LOOK_INTERVAL_MS = 1_000

/**
 * Whether credentials may be attached: `agw doctor --envoy-admin` writes the file when it has found no failure, and removes it when
 * it finds one. Without a file in the settings, always.
 */
export function followDoctorPass(
  file: string | null,
  log: Pick<Logger, 'info' | 'warn'>,
  interval_ms = LOOK_INTERVAL_MS,
): () => boolean {
  if (file === null) return () => true
  let passed = existsSync(file)
  const report = (): void => {
    if (passed) log.info({ file }, 'agw doctor has passed; credentials are attached')
    else log.warn({ file }, 'no credential is attached until agw doctor --envoy-admin passes')
  }
  report()
  const timer = setInterval(() => {
    void access(file)
      .then(
        () => true,
        () => false,
      )
      .then((now) => {
        if (now === passed) return
        passed = now
        report()
      })
  }, interval_ms)
  timer.unref()
  return () => passed
}
