import { useCallback, useRef } from 'preact/hooks'

/**
 * For answers that can overtake each other: called when a request is sent, returns a function that says, when its answer has come,
 * whether the answer may be shown. It may not if that of a later request has been.
 */
export function useRequestOrder(): () => () => boolean {
  const requests = useRef({ sent: 0, shown: 0 })
  return useCallback(() => {
    const request = ++requests.current.sent
    return () => {
      const isNewest = request >= requests.current.shown
      if (isNewest) requests.current.shown = request
      return isNewest
    }
  }, [])
}
