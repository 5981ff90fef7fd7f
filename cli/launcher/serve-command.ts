import type { Socket } from 'node:net'
import { createInterface } from 'node:readline'

/** Runs to its end or throws a sentence; `say` reports its progress. */
export type Command = (say: (line: string) => void) => Promise<void>

/** What the launcher answers, one JSON object per line; the last one is `done` or `failed`. */
export type CommandAnswer =
  | { readonly kind: 'progress' | 'failed'; readonly text: string }
  | { readonly kind: 'done' }

/** Longer than the name of any command. */
const REQUEST_LIMIT_BYTES = 64
const REQUEST_LIMIT_MS = 5_000

/**
 * Serves one connection to the launcher's socket, to which only its own user has access: the name of a command and a line
 * feed. A caller that leaves does not end the command.
 */
export function serveCommand(socket: Socket, commands: Readonly<Record<string, Command>>): void {
  let request = ''
  socket.on('error', () => undefined)
  socket.setTimeout(REQUEST_LIMIT_MS, () => socket.destroy())
  socket.setEncoding('utf8').on('data', (text: string) => {
    request += text
    if (request.length > REQUEST_LIMIT_BYTES) return void socket.destroy()
    if (!request.includes('\n')) return
    socket.removeAllListeners('data').resume()
    socket.setTimeout(0)
    void run(socket, commands[request.trim()])
  })
}

async function run(socket: Socket, command: Command | undefined): Promise<void> {
  const answer = (line: CommandAnswer): void => {
    if (socket.writable) socket.write(`${JSON.stringify(line)}\n`)
  }
  try {
    if (command === undefined) throw new Error('The launcher does not know this command.')
    await command((text) => answer({ kind: 'progress', text }))
    answer({ kind: 'done' })
  } catch (error) {
    answer({ kind: 'failed', text: (error as Error).message })
  }
  socket.end()
}

/** Sends a command over a connection to the launcher and reports its progress. Throws what the launcher says if it fails. */
export async function sendCommand(
  socket: Socket,
  name: string,
  say: (line: string) => void,
): Promise<void> {
  socket.write(`${name}\n`)
  for await (const line of createInterface({ input: socket })) {
    const answer = JSON.parse(line) as CommandAnswer
    if (answer.kind === 'done') return
    if (answer.kind === 'failed') throw new Error(answer.text)
    say(answer.text)
  }
  throw new Error('The launcher ended before the command did.')
}
