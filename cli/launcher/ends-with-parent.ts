import { execFile } from 'node:child_process'
import { promisify } from 'node:util'

const run = promisify(execFile)

/** A command that ends together with its parent. */
export type Wrap = (
  command: string,
  args: readonly string[],
) => readonly [string, readonly string[]]

/**
 * Envoy and Valkey must not outlive a launcher that is killed with SIGKILL. On Linux the kernel can ensure
 * that (`setpriv --pdeathsig` of util-linux, which becomes the program itself); elsewhere the next start ends the processes that
 * were left.
 */
export async function endsWithParent(): Promise<Wrap> {
  const option = ['--pdeathsig', 'TERM']
  try {
    if (process.platform !== 'linux') throw new Error('not there')
    await run('setpriv', [...option, 'true'])
    return (command, args) => ['setpriv', [...option, command, ...args]]
  } catch {
    return (command, args) => [command, args]
  }
}
