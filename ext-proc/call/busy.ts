import type { Busy } from '../../core/inspection/scan-pool.ts'
import { type Deny, deny } from '../verdict/step.ts'

/** The next job of the agent may be taken when the one before is done, which takes less than this. */
const RETRY_AFTER_S = '1'

/** The refusal of a call whose body cannot be inspected now. */
export const busy = (step: 'agent' | 'body', { by }: Pick<Busy, 'by'>): Deny =>
  by === 'all'
    ? deny(step, 'gateway_unavailable')
    : deny(
        step,
        'inspection_busy',
        {},
        { headers: [{ name: 'retry-after', value: RETRY_AFTER_S }] },
      )
