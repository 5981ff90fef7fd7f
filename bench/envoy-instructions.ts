import { execFile } from 'node:child_process'
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { parseArgs, promisify } from 'node:util'
import { findEnvoy } from '../cli/binaries.ts'
import { fromRoot } from '../core/root.ts'
import { readSettings } from '../core/settings.ts'
import { tempFolder } from '../test/kit/temp-folder.ts'
import { runLoad } from './measure-cpu.ts'
import { GET_ALL_ON, POST_ALL_ON } from './rows.ts'
import { startLoad } from './start-load.ts'
import { type Product, type Row, startProduct } from './subjects.ts'

/**
 * How many instructions Envoy executes per call, counted by callgrind: unlike times, repeated within 0.5 %, so one setting of Envoy can be
 * compared with another. Needs valgrind.
 *
 *   npm run bench -- envoy-instructions [--beside DIR] [--calls N] [--rounds N]
 *
 * `--beside` names another checkout that is built, such as one with other settings in its dist/envoy/bootstrap.json.
 */

const CONNECTIONS = 4
const WARM_UP_CALLS = 500
const ROWS: readonly Row[] = [GET_ALL_ON, POST_ALL_ON]
const run = promisify(execFile)

async function benchInstructions(print: (line: string) => void): Promise<void> {
  const { values } = parseArgs({
    options: {
      beside: { type: 'string' },
      calls: { type: 'string', default: '1000' },
      rounds: { type: 'string', default: '3' },
    },
  })
  const folder = tempFolder('callgrind')
  process.env['ENVOY_BIN'] = await wrapper(folder)
  process.env['AGW_ENVOY_CONCURRENCY'] = '1'
  const { load, upstream_port, stop: stopLoad } = await startLoad()
  const roots = new Map([['the product', fromRoot()]])
  if (values.beside !== undefined) roots.set('beside', resolve(values.beside))
  let product: Product | null = null
  try {
    print('| | | instructions per call |\n|---|---|---|')
    for (const [name, root] of roots) {
      product = await startProduct(name, root, upstream_port, ROWS)
      for (const row of ROWS) {
        await runLoad(load, product, row, { connections: CONNECTIONS, calls: WARM_UP_CALLS })
        const counts: number[] = []
        for (let round = 0; round < Number(values.rounds); round++) {
          await control(product, '--zero')
          const calls = Number(values.calls)
          const { failed } = await runLoad(load, product, row, { connections: CONNECTIONS, calls })
          if (failed > 0) throw new Error(`${failed} of ${calls} calls failed`)
          await control(product, '--dump')
          counts.push(takeTotal(folder) / calls)
        }
        print(`| ${name} | ${row.name} | ${counts.map((one) => one.toFixed(0)).join(', ')} |`)
      }
      await product.stop()
      product = null
    }
  } finally {
    await product?.stop()
    stopLoad()
  }
}

/** An executable that runs Envoy in callgrind, and asks Envoy itself for its version. */
async function wrapper(folder: string): Promise<string> {
  const read = readSettings(process.env)
  if (!read.ok) throw new Error(read.problems.join('\n'))
  const envoy = await findEnvoy(read.settings)
  const file = join(folder, 'envoy')
  const text = `#!/bin/sh
case "$*" in *--version*) exec '${envoy}' "$@" ;; esac
exec valgrind -q --tool=callgrind --callgrind-out-file='${folder}/out.%p' '${envoy}' "$@"
`
  writeFileSync(file, text, { mode: 0o700 })
  return file
}

async function control(product: Product, order: '--zero' | '--dump'): Promise<void> {
  const pid = [...product.pids()].find(([, role]) => role === 'Envoy')?.[0]
  await run('callgrind_control', [order, String(pid)])
}

/** Of the dumps in the folder, which are removed. */
function takeTotal(folder: string): number {
  let total = 0
  for (const name of readdirSync(folder).filter((one) => one.startsWith('out.'))) {
    const file = join(folder, name)
    total += Number(/^(?:totals|summary): (\d+)/m.exec(readFileSync(file, 'latin1'))?.[1] ?? 0)
    rmSync(file)
  }
  return total
}

await benchInstructions((line) => process.stdout.write(`${line}\n`))
