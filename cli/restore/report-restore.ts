import { wordsOfAction } from '../../core/activity/words-of-action.ts'
import { gapSentence } from '../../core/restore/restore-gap.ts'
import type { BackupHeader } from '../backup/backup-file.ts'
import type { RestorePlan } from './plan-restore.ts'
import type { RepeatedChanges } from './repeat-changes.ts'

export interface DoneRestore extends RepeatedChanges {
  /** Kills and reactivations that the backup does not have. */
  readonly states: readonly string[]
  readonly gap: RestorePlan['gap']
  readonly is_accepted: boolean
}

const LINES_MAX = 100

/** What the operator has to know, line by line. */
export function reportOf(
  { created_at }: BackupHeader,
  { states, repeated, impossible, gap, is_accepted }: DoneRestore,
): string[] {
  const applied = [
    ...states.map((state) => `agent ${state}`),
    ...repeated.map(
      ({ timestamp, action, target }) => `${timestamp} ${wordsOfAction(action)} ${target}`,
    ),
  ]
  const listed = (lines: readonly string[]): string[] => [
    ...lines.slice(0, LINES_MAX).map((line) => `- ${line}`),
    ...(lines.length > LINES_MAX ? [`- and ${lines.length - LINES_MAX} more`] : []),
  ]
  return [
    `Restored the state of ${created_at}. What was created since is gone. Applied of the changes since: ${applied.length}.`,
    ...listed(applied),
    ...(impossible.length === 0 ? [] : ['Make these changes again:', ...listed(impossible)]),
    ...(gap === null
      ? []
      : [...gap.reasons, is_accepted ? ACCEPTED : gapSentence(gap.known_until)]),
  ]
}

const ACCEPTED =
  'Changes that are not known are accepted: the agents of the backup may call. Check which kills and revocations are missing.'
