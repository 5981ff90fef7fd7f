import { availableParallelism } from 'node:os'
import { basename } from 'node:path'
import { parseArgs } from 'node:util'
import { findEnvoy, findValkey } from '../cli/deployment/binaries.ts'
import { readSettings } from '../core/settings/settings.ts'
import { bundlePackages } from './runner/bundle-packages.ts'
import { folderInMemory } from './runner/folder-in-memory.ts'
import { type Job, planIntegrationJobs, planUnitJobs } from './runner/plan-jobs.ts'
import { printJob, printResults } from './runner/print-results.ts'
import { type JobResult, runJob } from './runner/run-job.ts'

/** A job has several processes, so two use a core fully; with more, waits for answers of busy processes would end too early. */
const JOBS_PER_CORE = 2

/**
 * `npm test`: the unit tests, then the integration tests, two processes at a time for each core.
 * `npm run test:unit`: the unit tests alone, with fewer repetitions. Words after `--` choose files by their names.
 */
const { values, positionals: words } = parseArgs({
  options: { unit: { type: 'boolean', default: false } },
  allowPositionals: true,
})

if (values.unit) process.env['TEST_REPETITIONS'] ??= 'few'
const began_ms = performance.now()
await bundlePackages()
if (!values.unit) await installBinaries()
// A store that waits for a busy disk does not answer in time, and tests would fail for it.
const memory = folderInMemory()
if (memory !== null) process.env['TEST_STORE_DIR'] ??= memory
const jobs = [...planUnitJobs(words), ...(values.unit ? [] : planIntegrationJobs(words))]
const results = jobs.length === 1 ? [await showAlone(jobs)] : await runAll(jobs)
printResults(results, performance.now() - began_ms)
if (results.length === 0) process.stderr.write(`No test file for ${words.join(' ')}.\n`)
if (results.length === 0 || results.some(({ passed }) => !passed)) process.exitCode = 1

async function showAlone([job]: readonly Job[]): Promise<JobResult> {
  if (job === undefined) throw new Error('no job')
  return await runJob(job, 'at once')
}

/** In their order, the next one whenever one has ended. */
async function runAll(all: readonly Job[]): Promise<JobResult[]> {
  const waiting = [...all]
  const ended: JobResult[] = []
  const work = async (): Promise<void> => {
    for (let job = waiting.shift(); job !== undefined; job = waiting.shift()) {
      const result = await runJob(job, 'at its end')
      printJob(result)
      ended.push(result)
    }
  }
  const length = Math.ceil(availableParallelism() * JOBS_PER_CORE)
  await Promise.all(Array.from({ length }, work))
  return ended
}

/** Once, with its progress shown, instead of in the first test that needs it. */
async function installBinaries(): Promise<void> {
  const { ENVOY_BIN, VALKEY_BIN, AGW_CACHE_DIR } = process.env
  const read = readSettings({ ENVOY_BIN, VALKEY_BIN, AGW_CACHE_DIR })
  if (!read.ok) throw new Error(read.problems.join('\n'))
  const say = (line: string): void => void process.stderr.write(`${line}\n`)
  process.env['ENVOY_BIN'] = await findEnvoy(read.settings, say)
  process.env['VALKEY_BIN'] = await findValkey(read.settings, say)
  say(`Envoy: ${basename(process.env['ENVOY_BIN'])}, store: ${basename(process.env['VALKEY_BIN'])}`)
}
