import { EXT_PROC_NODE_ARGS } from '../../core/ext-proc-node-args.ts'
import { fromRoot } from '../../core/root.ts'

/** The arguments of Node that run each program of the gateway. */
export const PROGRAMS = {
  'ext-proc': [...EXT_PROC_NODE_ARGS, fromRoot('dist', 'ext-proc', 'main.js')],
  'access-log': [fromRoot('dist', 'ext-proc', 'access-log', 'main.js')],
  admin: [fromRoot('dist', 'admin', 'main.js')],
} as const satisfies Readonly<Record<string, readonly string[]>>

export type ProgramName = keyof typeof PROGRAMS
