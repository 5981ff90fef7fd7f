const KILL_PATH = /^\/admin\/(?:agents\/[^/?#]+\/(?:kill|reactivate)(?:\?|$)|locks$)/

/**
 * Whether a request is served where nothing else can hold it up. Other spellings of the same path are served too,
 * together with the other requests.
 */
export const isKillRequest = (method: string | undefined, url: string | undefined): boolean =>
  method === 'POST' && KILL_PATH.test(url ?? '')
