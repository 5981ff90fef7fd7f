import type { ComponentChildren } from 'preact'
import { useEffect, useErrorBoundary } from 'preact/hooks'

/** An error on one page does not affect the others; navigating to another `place` resets it. */
export function Guard({ place, children }: { place: string; children: ComponentChildren }) {
  const [fault, again] = useErrorBoundary((error) => reportError(error))
  useEffect(() => {
    if (fault !== undefined) again()
  }, [place])
  if (fault === undefined) return <>{children}</>
  return (
    <div class="notice bad" role="alert">
      <p>
        This page could not be displayed: the service returned an unexpected answer, or the page has
        an error. Reload it. Contact your gateway administrator if the problem persists.
      </p>
    </div>
  )
}
