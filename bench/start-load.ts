import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { fromRoot } from '../core/system/root.ts'
import type { LoadOrder, LoadResult } from './load.ts'

/** The callers and the API of a bench, in processes of their own. */
export interface Load {
  readonly load: ChildProcess
  readonly upstream_port: number
  readonly stop: () => void
}

export async function startLoad(): Promise<Load> {
  const upstream = fork(fromRoot('dist', 'bench/upstream.js'))
  const [{ port }] = (await once(upstream, 'message')) as [{ port: number }]
  const load = fork(fromRoot('dist', 'bench/load.js'))
  return {
    load,
    upstream_port: port,
    stop: () => {
      upstream.kill('SIGTERM')
      load.kill('SIGTERM')
    },
  }
}

export async function askLoad(load: ChildProcess, order: LoadOrder): Promise<LoadResult> {
  load.send(order)
  const [result] = (await once(load, 'message')) as [LoadResult]
  return result
}
