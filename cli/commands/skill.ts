import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import type { Writable } from 'node:stream'
import { SKILL_TEXT } from '../../admin/self/skill-text.ts'
import { type Input, isConfirmed } from '../terminal/ask.ts'

export interface SkillOptions {
  /** The folder of skills. */
  readonly dir: string
  /** Do not ask. */
  readonly yes: boolean
}

/** Last line of what this command writes; the hash is that of the text before it. */
const MARK = /\n<!-- written by agw skill install, sha256 ([0-9a-f]{64}) -->\n$/

/**
 * `agw skill install`: writes the skill that tells an agent how to use the gateway, as this program was built with. A file that it
 * did not write, or that has been changed since, is not replaced.
 * @returns the exit code
 */
export async function runSkillInstall(
  { dir, yes }: SkillOptions,
  stdin: Input,
  stdout: Writable,
  stderr: Writable,
): Promise<number> {
  const path = resolve(dir, 'agent-access-gateway', 'SKILL.md')
  const text = `${SKILL_TEXT}\n<!-- written by agw skill install, sha256 ${hashOf(SKILL_TEXT)} -->\n`
  const present = existsSync(path) ? readFileSync(path, 'utf8') : null
  if (present === text) {
    stdout.write(`${path} is up to date.\n`)
    return 0
  }
  if (present !== null && !isOwn(present)) {
    stderr.write(
      `${path} has another text, which is not replaced. Move it away, or choose another --dir.\n`,
    )
    return 1
  }
  stdout.write(`${text}\nThis will be written to ${path}\n`)
  if (!yes && !(await isConfirmed('Write it?', { stdin, stdout }))) {
    stderr.write('Nothing was written. Confirm with y, or use --yes.\n')
    return 1
  }
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, text)
  stdout.write(`Written. Agents need {proxy_url} and their key: agw env AGENT prints both.\n`)
  return 0
}

const hashOf = (text: string): string => createHash('sha256').update(text).digest('hex')

function isOwn(text: string): boolean {
  const mark = MARK.exec(text)
  return mark !== null && hashOf(text.slice(0, mark.index)) === mark[1]
}
