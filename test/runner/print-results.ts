import { basename } from 'node:path'
import type { TestEnd } from './event-reporter.ts'
import type { JobResult } from './run-job.ts'

const SLOWEST = 15

const nameOf = (path: string): string => basename(path).replace(/(\.test)?\.[jt]s$/, '')
const seconds = (ms: number): string => `${(ms / 1000).toFixed(1).padStart(6)} s`
const isTest = ({ is_suite }: TestEnd): boolean => !is_suite

/** One line for a job, and all of its output where it failed. */
export function printJob({ job, passed, ends, took_ms, cpu_ms, output }: JobResult): void {
  const tests = ends.filter(isTest)
  process.stdout.write(
    `${passed ? '✔' : '✖'} ${seconds(took_ms)}  ${job.name}  (${tests.length} tests${job.file === null ? ` in ${new Set(tests.map(({ file }) => file)).size} files` : ''}, ${seconds(cpu_ms).trim()} of CPU)\n`,
  )
  if (!passed) process.stdout.write(`${output}\n`)
}

/** How many tests ended how, what failed, what was skipped and why, and which files took longest. */
export function printResults(results: readonly JobResult[], took_ms: number): void {
  const tests = results.flatMap(({ ends }) => ends).filter(isTest)
  const failed = tests.filter(({ passed }) => !passed)
  const skipped = tests.filter((test) => test.skipped !== null)
  const lines = ['', 'Slowest files:']
  for (const [name, ms] of slowestOf(results)) lines.push(`${seconds(ms)}  ${name}`)
  if (skipped.length > 0) lines.push('', 'Skipped:')
  for (const { file, name, skipped: why } of skipped)
    lines.push(`  ${nameOf(file)}: ${name} (${why})`)
  const broken = results.filter(({ passed }) => !passed)
  if (broken.length > 0) lines.push('', `✖ failed: ${broken.map(({ job }) => job.name).join(', ')}`)
  for (const { file, name } of failed) lines.push(`  ✖ ${nameOf(file)}: ${name}`)
  lines.push(
    '',
    `${tests.length} tests, ${failed.length} failed, ${skipped.length} skipped, ${seconds(took_ms).trim()}`,
    '',
  )
  process.stdout.write(lines.join('\n'))
}

/** A file with a process of its own took as long as that; of one that shares it, the time of its tests. */
function slowestOf(results: readonly JobResult[]): [name: string, ms: number][] {
  const times = new Map<string, number>()
  for (const { job, ends, took_ms } of results)
    if (job.file !== null) times.set(job.name, took_ms)
    else
      for (const { file, duration_ms, nesting } of ends)
        if (nesting === 0) times.set(nameOf(file), (times.get(nameOf(file)) ?? 0) + duration_ms)
  return [...times].sort(([, a], [, b]) => b - a).slice(0, SLOWEST)
}
