import { EXT_PROC_NODE_ARGS } from '../../core/ext-proc-node-args.ts'
import { fromRoot } from '../../core/root.ts'

/**
 * The admin service reads the log of all calls several times a second. With Node's default young generation many of these objects grow
 * old, and several threads collect it: with these options an entry costs a fifth less CPU time (docs/measurements.md).
 */
const ADMIN_NODE_ARGS = ['--max-semi-space-size=32', '--no-parallel-scavenge']

/** The arguments of Node that run each program of the gateway. */
export const PROGRAMS = {
  'ext-proc': [...EXT_PROC_NODE_ARGS, fromRoot('dist', 'ext-proc', 'main.js')],
  'access-log': [fromRoot('dist', 'ext-proc', 'access-log', 'main.js')],
  admin: [...ADMIN_NODE_ARGS, fromRoot('dist', 'admin', 'main.js')],
} as const satisfies Readonly<Record<string, readonly string[]>>

export type ProgramName = keyof typeof PROGRAMS
