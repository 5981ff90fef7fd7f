import { spawn } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { startStack } from '../kit/start-stack.ts'
import { tempFolder } from '../kit/temp-folder.ts'

/**
 * Runs schemathesis with every check against the admin service and its own OpenAPI document, for four minutes at most,
 * and prints its report. A bounded number of examples a path keeps it at a few thousand requests.
 *
 *     python3 -m venv FOLDER && FOLDER/bin/pip install schemathesis
 *     node cli/prepare.mjs build && node dist/test/witness/schemathesis.js [--product FOLDER] FOLDER/bin/st
 */
const words = process.argv.slice(2)
const at = words.indexOf('--product')
const product = at < 0 ? undefined : words.splice(at, 2)[1]
const [binary] = words.map((word) => resolve(word))
if (binary === undefined) throw new Error('name the st binary')

/** A stream has no end, and deleting tokens would delete the one it signs in with. */
const LEFT_OUT = '^/admin/(activity/stream|tokens/.token_id.)$'

const stack = await startStack({}, product)
try {
  const answer = await fetch(`${stack.apiUrl}/openapi.json`)
  const folder = tempFolder('schemathesis')
  const file = join(folder, 'openapi.json')
  // Its generator cannot read half surrogate pairs and would leave these requests out.
  const text = (await answer.text()).replace(/"pattern":"[^"]*ud800[^"]*"/g, '"pattern":"^[!-~]+$"')
  writeFileSync(file, text)
  const args =
    `run ${file} --url ${stack.apiUrl} --checks all --phases coverage,fuzzing,stateful --max-examples 100 ` +
    `--max-time 240 --workers 1 --request-timeout 10 --continue-on-failure --exclude-path-regex ${LEFT_OUT}`
  const child = spawn(
    binary,
    [...args.split(' '), '--header', `Authorization: Bearer ${stack.adminToken}`],
    // It keeps a cache of what it found where it runs.
    { cwd: folder, stdio: ['ignore', 'inherit', 'inherit'] },
  )
  process.exitCode = await new Promise<number>((settle) =>
    child.once('exit', (code) => settle(code ?? 1)),
  )
} finally {
  await stack.stop()
}
process.exit()
