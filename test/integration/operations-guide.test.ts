import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { chmodSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { fromRoot } from '../../core/system/root.ts'
import { freePort } from '../kit/free-port.ts'
import { type GuideStep, guideSteps } from '../kit/guide-steps.ts'
import { printsAsShown } from '../kit/prints-as-shown.ts'
import { tempFolder } from '../kit/temp-folder.ts'

// Follows the tutorial and then docs/guides/operations.md from the first command to the last, in one shell, as a reader would.

const GUIDES = ['docs/guides/tutorial.md', 'docs/guides/operations.md']
/** Ports in the guide; the test has others. */
const PORTS = ['8080', '8081', '8082', '8083', '8090', '8091', '8092']
/** No command of the guide takes a tenth of this on an idle machine. */
const STEP_LIMIT_MS = 60_000
const LOG_SHOWN = 3_000
const END = '\u0001'

const folder = tempFolder('guide')
let shell: ReturnType<typeof spawn>
let run: (command: string) => Promise<{ readonly code: number; readonly output: string }>
let steps: readonly GuideStep[] = []

before(async () => {
  const bin = join(folder, 'bin')
  mkdirSync(bin)
  writeFileSync(
    join(bin, 'agw'),
    `#!/bin/sh\nexec '${process.execPath}' '${fromRoot('dist', 'cli', 'bin.js')}' "$@"\n`,
  )
  chmodSync(join(bin, 'agw'), 0o755)
  const ports = new Map<string, string>()
  for (const port of PORTS) ports.set(port, String(await freePort()))
  const withPorts = (text: string): string =>
    text.replaceAll(/\b80[89]\d\b/g, (port) => ports.get(port) ?? port)
  steps = GUIDES.flatMap((guide) => guideSteps(withPorts(readFileSync(fromRoot(guide), 'utf8'))))
  const inherited = Object.entries(process.env).filter(
    ([name]) => name === 'AGW_CACHE_DIR' || !/^AGW_|^REDIS_URL$/.test(name),
  )
  shell = spawn('bash', ['--noprofile', '--norc'], {
    cwd: folder,
    // So that what it has started in the background can be ended with it.
    detached: true,
    stdio: ['pipe', 'pipe', 'ignore'],
    env: {
      ...Object.fromEntries(inherited),
      PATH: `${bin}:${process.env['PATH']}`,
      AGW_PROXY_PORT: ports.get('8080'),
      AGW_API_PORT: ports.get('8081'),
      AGW_ECHO_PORT: ports.get('8082'),
      AGW_FORWARD_PORT: ports.get('8083'),
      AGW_EXT_PROC_WORKERS: '2',
      AGW_EGRESS_ALLOW_CIDRS: '127.0.0.0/8',
      // The disk of the tests has space.
      AGW_DISK_RESERVE_BYTES: '0',
    },
  })
  run = commandsIn(shell)
})
after(() => {
  if (shell.pid !== undefined && shell.exitCode === null) process.kill(-shell.pid, 'SIGTERM')
})

/** Runs one command after the other in a shell. */
function commandsIn({ stdin, stdout }: ReturnType<typeof spawn>): typeof run {
  let text = ''
  let onText = (): void => undefined
  stdout?.setEncoding('utf8').on('data', (part: string) => {
    text += part
    onText()
  })
  return async (command) => {
    stdin?.write(`{ ${command}\n} 2>&1\nprintf '${END}%s${END}' $?\n`)
    return await new Promise((resolve, reject) => {
      const limit = setTimeout(
        () => reject(new Error(`no end of: ${command}\n${text}\n${logs()}`)),
        STEP_LIMIT_MS,
      )
      onText = () => {
        const [output = '', code, rest] = text.split(END)
        if (rest === undefined) return
        clearTimeout(limit)
        text = rest
        resolve({ code: Number(code), output })
      }
      onText()
    })
  }
}

const logs = (): string =>
  readdirSync(folder)
    .filter((name) => name.endsWith('.log'))
    .map((name) => `${name}: ${readFileSync(join(folder, name), 'utf8').slice(-LOG_SHOWN)}`)
    .join('\n')

test('every command of the tutorial and the operations guide succeeds and prints what the guide shows', async () => {
  assert.ok(steps.length > 20, `${steps.length} commands were found`)
  for (const { command, shown } of steps) {
    const { code, output } = await run(command)
    // A count of nothing is an answer too.
    const mayFail = /grep -c/.test(command)
    assert.ok(code === 0 || mayFail, `$ ${command}\n${output}\nended with ${code}`)
    assert.ok(
      printsAsShown(output, shown),
      `$ ${command}\nprinted\n${output}\nand the guide shows\n${shown.join('\n')}`,
    )
  }
})
