import { EXT_PROC_NODE_ARGS } from '../../core/system/ext-proc-node-args.ts'
import { fromRoot } from '../../core/system/root.ts'

/**
 * The admin service reads the log of all calls once a second. With Node's default young generation many of these objects grow
 * old, and several threads collect it. Buffers count as old from the beginning, so the few megabytes per second that pass through caused
 * a full collection each half second, which marks the whole heap on all cores. `--initial-old-space-size` is the size, in MiB, below which
 * V8 makes no full collection (docs/measurements.md).
 */
const ADMIN_NODE_ARGS = [
  '--max-semi-space-size=32',
  '--no-parallel-scavenge',
  '--initial-old-space-size=128',
]

/** The same for the access-log receiver, through which all bytes of the log pass once, and which keeps none of them. */
const ACCESS_LOG_NODE_ARGS = [
  '--min-semi-space-size=16',
  '--max-semi-space-size=16',
  '--no-parallel-scavenge',
  '--initial-old-space-size=96',
]

/** The arguments of Node that run each program of the gateway. */
export const PROGRAMS = {
  'ext-proc': [...EXT_PROC_NODE_ARGS, fromRoot('dist', 'ext-proc', 'main.js')],
  'access-log': [...ACCESS_LOG_NODE_ARGS, fromRoot('dist', 'ext-proc', 'access-log', 'main.js')],
  admin: [...ADMIN_NODE_ARGS, fromRoot('dist', 'admin', 'main.js')],
} as const satisfies Readonly<Record<string, readonly string[]>>

export type ProgramName = keyof typeof PROGRAMS
