import type { ChildProcess } from 'node:child_process'
import type { LoadResult } from './load.ts'
import { requestOf } from './request-of.ts'
import { rotate } from './rotate.ts'
import { askLoad } from './start-load.ts'
import { cpuMicros, type Role, ROLES, type Row, type Subject } from './subjects.ts'

const CONNECTIONS = 32
const WARM_UP_CALLS = 8_000
/** Admin and the receiver work in batches of a tenth of a second; what a round has caused is counted with it. */
const SETTLE_MS = 700

/** CPU µs a call, by role. */
export type CpuSample = Readonly<Partial<Record<Role, number>>> & {
  readonly whole: number
  readonly rate: number
}

/** `load` is a process of bench/load.ts. */
export interface Plan {
  readonly load: ChildProcess
  readonly rounds: number
  readonly calls: number
}

/** What each subject's processes need for a call at saturation, in interleaved rounds. */
export async function measureCpu(
  subjects: readonly Subject[],
  row: Row,
  { load, rounds, calls }: Plan,
): Promise<ReadonlyMap<string, readonly CpuSample[]>> {
  const samples = new Map<string, CpuSample[]>(subjects.map(({ name }) => [name, []]))
  const warm_up = Math.ceil(WARM_UP_CALLS / (row.one_in ?? 1))
  // The first calls may be refused: scans wait for custom patterns, and a limited number of calls waits.
  for (const subject of subjects) await runLoad(load, subject, row, { calls: warm_up })
  for (let round = 0; round < rounds; round++) {
    for (const subject of rotate(subjects, round)) {
      const pids = subject.pids()
      const before = cpuMicros(pids)
      const { took_ms, failed } = await runLoad(load, subject, row, { calls })
      if (failed > 0) throw new Error(`${subject.name}: ${failed} of ${calls} calls failed`)
      await new Promise((settled) => setTimeout(settled, SETTLE_MS))
      const after = cpuMicros(pids)
      const spent = ROLES.map(
        (role) => [role, ((after.get(role) ?? 0) - (before.get(role) ?? 0)) / calls] as const,
      )
      samples.get(subject.name)?.push({
        ...Object.fromEntries(spent),
        whole: spent.reduce((sum, [, us]) => sum + us, 0),
        rate: (calls / took_ms) * 1000,
      })
    }
  }
  return samples
}

/** Calls in a closed loop. */
export async function runLoad(
  load: ChildProcess,
  subject: Subject,
  row: Row,
  { calls, connections = CONNECTIONS }: { readonly calls: number; readonly connections?: number },
): Promise<LoadResult> {
  const request = requestOf(subject, row)
  return await askLoad(load, { port: subject.port, connections, calls, request })
}

export function medianOf(
  samples: readonly CpuSample[] | undefined,
  member: Role | 'whole' | 'rate',
): number {
  const values = (samples ?? []).map((sample) => sample[member] ?? 0).sort((a, b) => a - b)
  return values[Math.floor(values.length / 2)] ?? Number.NaN
}
