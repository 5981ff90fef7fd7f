import { createInterface } from 'node:readline'
import { createInterface as createQuestions } from 'node:readline/promises'
import { type Readable, Writable } from 'node:stream'
import { terminalText } from './terminal-text.ts'

export type Input = Readable & { readonly isTTY?: boolean }

/** Standard input and outputs of a command that may ask. */
export interface Terminal {
  readonly stdin: Input
  readonly stdout: Writable
  readonly stderr: Writable
}

/** False also where no terminal can answer. */
export async function isConfirmed(
  question: string,
  { stdin, stdout }: Pick<Terminal, 'stdin' | 'stdout'>,
): Promise<boolean> {
  if (stdin.isTTY !== true) return false
  const lines = createQuestions({ input: stdin, output: stdout })
  try {
    return /^y(?:es)?$/i.test((await lines.question(`${question} [y/N] `)).trim())
  } finally {
    lines.close()
  }
}

/** Secrets, from a terminal without showing them, else a line each; an empty text for what was not given. */
export async function askSecrets(
  prompts: readonly string[],
  { stdin, stderr }: Pick<Terminal, 'stdin' | 'stderr'>,
): Promise<readonly string[]> {
  if (prompts.length === 0) return []
  const isTerminal = stdin.isTTY === true
  const ask = (prompt: string | undefined): void => {
    if (isTerminal && prompt !== undefined) stderr.write(`${terminalText(prompt)}: `)
  }
  const silent = new Writable({ write: (_chunk, _encoding, done) => done() })
  const lines = createInterface({
    input: stdin,
    ...(isTerminal ? { output: silent, terminal: true } : {}),
  })
  const given: string[] = []
  ask(prompts[0])
  try {
    for await (const line of lines) {
      if (isTerminal) stderr.write('\n')
      given.push(line.trim())
      if (given.length === prompts.length) break
      ask(prompts[given.length])
    }
  } finally {
    lines.close()
  }
  return prompts.map((_, i) => given[i] ?? '')
}
