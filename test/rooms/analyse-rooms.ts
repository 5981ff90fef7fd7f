import { dirname } from 'node:path'

/** A file of the product, one of whose functions was entered. */
export type Entered = string

/** The stages of an allowed call, in their order, and the files of `ext-proc/call` that each consists of. */
const STAGES = {
  receive: [],
  admission: [
    'decide-call',
    'read-head',
    'admit-call',
    'find-caller',
    'places-with-keys',
    'hash-of-key',
    'head-as-sent',
    'read-agent-facts',
    'note-admission',
    'read-identity',
    'note-unusable-key',
  ],
  plan: ['plan-body'],
  rate: ['check-rate'],
  body: ['read-call-body', 'buffer-body', 'check-body-overrides'],
  tools: ['check-tools'],
  scan: ['scan-call'],
  credential: ['ready-credential', 'fill-credential'],
  forward: ['forward-call'],
  answer: [],
} as const
type Stage = keyof typeof STAGES

const NAMES = Object.keys(STAGES) as Stage[]
const CORRIDOR = 'ext-proc/call'

export interface Rooms {
  /** The stages as they follow each other; one that is here twice was returned to. */
  readonly stages: readonly Stage[]
  /** The stages in which each folder is entered, without the folder of the steps itself. */
  readonly stages_of: Readonly<Record<string, readonly Stage[]>>
  /** Counted strictly, every change from one folder to another: the folders as they are first entered, and how often again. */
  readonly strict: readonly { readonly room: string; readonly returns: number }[]
}

export function analyseRooms(entered: readonly Entered[]): Rooms {
  const stages: Stage[] = []
  const stagesOf = new Map<string, Set<Stage>>()
  const sequence: string[] = []
  for (const file of entered) {
    const room = dirname(file)
    if (sequence.at(-1) !== room) sequence.push(room)
    if (room === CORRIDOR) {
      const stage = stageOf(file.slice(CORRIDOR.length + 1), stages.at(-1))
      if (stage !== null && stage !== stages.at(-1)) stages.push(stage)
      continue
    }
    const there = stagesOf.get(room) ?? new Set()
    stagesOf.set(room, there.add(stages.at(-1) ?? 'receive'))
  }
  const returns = new Map<string, number>()
  for (const room of sequence) returns.set(room, (returns.get(room) ?? -1) + 1)
  return {
    stages,
    stages_of: Object.fromEntries([...stagesOf].map(([room, found]) => [room, [...found]])),
    strict: [...returns].map(([room, again]) => ({ room, returns: again })),
  }
}

/** The stage that a file belongs to; null for one that continues the current one. */
function stageOf(file: string, current: Stage | undefined): Stage | null {
  // The stream receives the request and writes the answer. In between it is what a step asks for the body.
  if (file === 'call-stream')
    return current === undefined ? 'receive' : current === 'forward' ? 'answer' : null
  return NAMES.find((name) => (STAGES[name] as readonly string[]).includes(file)) ?? null
}
