import type { ActivityEntry } from '../api-types.ts'

/** The call of an entry, with a mark if it came through the forward proxy. */
export const MethodAndPath = ({ entry }: { entry: ActivityEntry }) => (
  <>
    {entry.data['via'] === 'forward' && (
      <span class="muted" title="Through the forward proxy">
        proxy{' '}
      </span>
    )}
    <code>
      {entry.method} {entry.endpoint}
    </code>
  </>
)
