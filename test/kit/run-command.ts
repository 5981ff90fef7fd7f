import { Writable } from 'node:stream'

/** Runs a command of the command line in this process. Returns its exit code and what it printed. */
export async function runCommand(
  command: (out: Writable) => Promise<number>,
): Promise<{ readonly code: number; readonly text: string }> {
  let text = ''
  const out = new Writable({
    write: (chunk: Buffer, _, done) => {
      text += chunk.toString()
      done()
    },
  })
  return { code: await command(out), text }
}
