import type { Loading } from '../use-load.ts'
import { Time } from './time.tsx'

/** The age of what is shown, while it cannot be read again. */
export const StaleNote = ({
  of: { value, problem, answered_ms },
}: {
  of: Pick<Loading<unknown>, 'value' | 'problem' | 'answered_ms'>
}) =>
  value === null || problem === null ? null : (
    <p class="stale-note">
      Old: read <Time at={new Date(answered_ms).toISOString()} />
    </p>
  )
