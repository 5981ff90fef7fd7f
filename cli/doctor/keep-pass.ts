import { rmSync, writeFileSync } from 'node:fs'
import { type CheckResult, failed, ok } from './check-result.ts'

/** Writes the file of AGW_DOCTOR_PASS_FILE if no check of an Envoy has failed, and removes it otherwise. */
export function keepPass(
  file: string | undefined,
  envoy: string,
  findings: readonly CheckResult[],
  now: Date,
): CheckResult[] {
  if (file === undefined || file === '') return []
  const check = 'credentials'
  try {
    if (findings.some(({ state }) => state === 'failed')) {
      rmSync(file, { force: true })
      return [
        failed(
          check,
          `held: ${file} does not exist`,
          'Correct the failures above, and run this command again.',
        ),
      ]
    }
    writeFileSync(file, `${JSON.stringify({ envoy, passed_at: now.toISOString() })}\n`, {
      mode: 0o644,
    })
    return [ok(check, `attached: ${file} was written`)]
  } catch (error) {
    const says = `${file} cannot be written: ${(error as Error).message}`
    return [failed(check, says, 'Run this command as a user that may write the file.')]
  }
}
