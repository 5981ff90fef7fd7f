/** https, or http on loopback, which stays on this machine. */
export const isSecureUrl = (text: string): boolean =>
  /^https:\/\/[^/?#@]+([/?]|$)/i.test(text) ||
  /^http:\/\/(127(\.\d{1,3}){3}|\[::1\]|localhost)(:\d{1,5})?([/?]|$)/i.test(text)

/** What a check says of a URL that is not; null if it is, or is left out. */
export const insecure = <K extends string>(member: K, url: string | undefined) =>
  url === undefined || isSecureUrl(url) ? null : { member, message: 'must be an https URL' }
