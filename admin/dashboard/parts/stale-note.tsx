import type { Loading } from '../use-load.ts'
import { Time } from './time.tsx'

/** The age of what is shown, while it cannot be read again. */
export const StaleNote = ({
  of: { value, problem, answered_ms },
  what = '',
}: {
  of: Pick<Loading<unknown>, 'value' | 'problem' | 'answered_ms'>
  /** Where only a part of what is shown is old. */
  what?: string
}) =>
  value === null || problem === null ? null : (
    <p class="stale-note">
      Old{what && ` ${what}`}: read <Time at={new Date(answered_ms).toISOString()} />
    </p>
  )
