import type { Role } from '../api-types.ts'
import { useMay } from '../session.ts'

/** Says who can do what the operator who is signed in cannot; nothing for those who can. */
export const RoleNote = ({ role, to }: { role: Role; to: string }) =>
  useMay(role) ? null : (
    <span class="muted">
      Only {role === 'operator' ? 'operators and admins' : 'an admin'} can {to}.
    </span>
  )
