import type { Scope } from '../api-types.ts'
import { linkTo } from '../place.ts'
import { Time } from './time.tsx'

/** The name of a scope, and its end if it has one. */
export const ScopeName = ({
  of: { scope_id, name, expires_at },
}: {
  of: Pick<Scope, 'scope_id' | 'name' | 'expires_at'>
}) => (
  <>
    <a href={linkTo(['scopes', scope_id])}>{name}</a>
    {expires_at !== null && (
      <span class="muted">
        {' '}
        {Date.parse(expires_at) > Date.now() ? 'ends' : 'ended'} <Time at={expires_at} />
      </span>
    )}
  </>
)
