import { spawn } from 'node:child_process'

/** Runs a program with a text on its standard input and returns what it prints. */
export function runWith(
  command: string,
  args: readonly string[],
  input: string,
  cwd = process.cwd(),
): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { cwd, stdio: ['pipe', 'pipe', 'pipe'] })
    let out = ''
    let complaint = ''
    child.stdout.on('data', (part: Buffer) => {
      out += part.toString()
    })
    child.stderr.on('data', (part: Buffer) => {
      complaint += part.toString()
    })
    child.on('error', reject)
    // A program that ends early is recognised by its exit code.
    child.stdin.on('error', () => undefined)
    child.on('close', (code) => {
      if (code === 0) resolve(out)
      else reject(new Error(`${command} ${args[0] ?? ''} ended with ${code}: ${complaint}`))
    })
    child.stdin.end(input)
  })
}
