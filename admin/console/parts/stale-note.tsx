import type { Loading } from '../use-load.ts'
import { Time } from './time.tsx'

/** Whether it is shown, and cannot be read again. */
export const isOld = ({ value, problem }: Pick<Loading<unknown>, 'value' | 'problem'>): boolean =>
  value !== null && problem !== null

/** The age of what is shown, while it cannot be read again. */
export const StaleNote = ({
  of,
  what = '',
}: {
  of: Pick<Loading<unknown>, 'value' | 'problem' | 'answered_ms'>
  /** Where only a part of what is shown is old. */
  what?: string
}) =>
  isOld(of) && (
    <p class="stale-note">
      Old{what && ` ${what}`}: read <Time at={new Date(of.answered_ms).toISOString()} />
    </p>
  )
