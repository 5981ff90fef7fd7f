import { spawn } from 'node:child_process'
import { type Environment, unknownSettings } from '../../core/settings/settings.ts'
import { PROGRAMS, type ProgramName } from '../launcher/programs.ts'

const FORWARDED = ['SIGTERM', 'SIGINT', 'SIGHUP'] as const

/**
 * `agw ext-proc`, `agw access-log` and `agw admin`: runs one program in the foreground, with the options of Node that it
 * needs. It receives the signals that this process receives, and stops when this process ends.
 * @returns the exit code of the program
 */
export function runProgram(name: ProgramName, env: Environment): Promise<number> {
  for (const notice of unknownSettings(env)) process.stderr.write(`${notice}\n`)
  // With the channel, the program notices when this process is killed.
  const child = spawn(process.execPath, [...PROGRAMS[name]], {
    stdio: ['inherit', 'inherit', 'inherit', 'ipc'],
    env: { ...env },
  })
  for (const signal of FORWARDED) process.on(signal, () => child.kill(signal))
  return new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('exit', (code, signal) => {
      if (signal === null) resolve(code ?? 1)
      else {
        // Ends as the program did, so that a supervisor sees the same.
        process.removeAllListeners(signal)
        process.kill(process.pid, signal)
      }
    })
  })
}
